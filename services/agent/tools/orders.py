"""What the owner themself orders, in the words that are there for it (rule 21): "remember this: X", "merk dir: X"."""

import re

_ORDER = re.compile(
    r"\s*(?:please |bitte )?(?:remember this|merk(?:e)? dir(?: das| dies)?)\s*:\s*(?P<what>.+?)\s*",
    re.IGNORECASE | re.DOTALL,
)


def orders(said: str, text: str) -> bool:
    """Whether this message is nothing but the order to remember exactly this text.

    Such an order is a person's decision over exact words, as a card is (S11): what a page, a mail or a tool says is never the owner's message.
    """
    found = _ORDER.fullmatch(said)
    return found is not None and " ".join(found["what"].split()) == " ".join(text.split())
