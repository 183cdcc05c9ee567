"""How words are found in a conversation: case, width and the two ways to write an umlaut make no difference; nothing is a pattern."""

import re
import unicodedata
from dataclasses import dataclass

from schemas.text import text_fault
from shared.errors import Refused

MOST_TEXT = 500
"""Characters of a search."""
MOST_WORDS = 20
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_TERM = re.compile(r'"([^"]+)"|(\S+)')


def fold(text: str) -> str:
    """NFKC, case-folded, umlauts as ae, oe, ue (rule 18)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_UMLAUTS)


@dataclass(frozen=True)
class Wanted:
    """`words`, folded, must all occur; so must each of `exact`, letter by letter."""

    words: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()


def read_search(asked: str) -> Wanted:
    """`rechnung "Nr. 12"`: a word anywhere, and that text exactly. An empty search wants nothing special. Refused when it is too long or no text."""
    fault = text_fault(asked)
    if fault:
        raise Refused(fault, code="search")
    if len(asked) > MOST_TEXT:
        raise Refused(f"A search has at most {MOST_TEXT} characters; this one has {len(asked)}.", code="search")
    terms = _TERM.findall(asked)
    if len(terms) > MOST_WORDS:
        raise Refused(f"A search has at most {MOST_WORDS} words; this one has {len(terms)}.", code="search")
    exact = tuple(quoted for quoted, _ in terms if quoted)
    return Wanted(tuple(folded for _, word in terms if word and (folded := fold(word))), exact)
