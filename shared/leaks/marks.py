"""From a value to its marks, and which values are too weak or too common to have any (S14). Pure."""

import math
import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import pairwise

from shared.leaks.key import MARK
from shared.leaks.words import LONGEST, SHORTEST, Spelled, joined, spell

LEAST_BITS = 32.0
"""Weaker values have no mark of their own (S14): whoever has the key could find them by trying."""
ALONE = 8
"""Characters of a single word, or number, at least."""
SHINGLE = 20
"""Characters that a shingle of a longer value has at least."""
SAMPLED = 120
"""Shingles of one value that are all kept; of a longer one every fourth, chosen by the mark itself, so that a text's are the same."""
_POOLS = (
    (re.compile(r"[a-z]"), 26),
    (re.compile(r"\d"), 10),
    (re.compile(r"[^\w\s]|\s"), 8),
    (re.compile(r"[^\W\da-z]"), 40),
)
_REPEATED = re.compile(r"(.)\1{3,}")


def mark(seeking: bytes, run: str) -> bytes:
    """MARK bytes for the characters of a run."""
    return blake2b(run.encode("utf-8", "replace"), digest_size=MARK, key=seeking).digest()


def marks(seeking: bytes, value: str) -> frozenset[bytes]:
    """Of a value: one for all of it, or one for each shingle of a long one. None when it could be guessed, or is but a common word."""
    if len(value) < SHORTEST and value.isascii():
        return frozenset()
    spelled = spell(value)
    length = sum(map(len, spelled.tokens))
    if length < (SHORTEST if len(spelled.tokens) > 1 else ALONE) or bits(value) < LEAST_BITS or is_common(spelled):
        return frozenset()
    if length <= LONGEST:
        return frozenset({mark(seeking, spelled.whole)})
    found = [mark(seeking, run) for run in shingles(spelled)]
    return frozenset(found if len(found) <= SAMPLED else [each for each in found if each[-1] % 4 == 0])


def shingles(spelled: Spelled) -> Iterator[str]:
    """From each token on, as many as fit; a token that is longer than that by its beginning."""
    tokens = spelled.tokens
    for first in range(len(tokens)):
        run, after = tokens[first][:LONGEST], first + 1
        while after < len(tokens) and len(longer := joined(run, tokens[after])) <= LONGEST:
            run, after = longer, after + 1
        if len(run) >= SHINGLE and not all(map(_is_common, tokens[first:after])):
            yield run


def bits(value: str) -> float:
    """How much guessing a value takes as it is written, estimated by the kinds of characters in it. What repeats itself counts once."""
    plain = _REPEATED.sub(r"\1", " ".join(value.casefold().split()))
    period = (plain + plain).find(plain, 1) if plain else 0
    plain = plain[:period] if period > 0 else plain
    pool = sum(size for kind, size in _POOLS if kind.search(plain))
    return len(plain) * math.log2(pool) * _variety(plain) if pool > 1 else 0.0


def _variety(plain: str) -> float:
    """Less than one where few different characters, or steps between them, make up all of it."""
    steps = {ord(after) - ord(before) for before, after in pairwise(plain)}
    return min(1.0, len(set(plain)) / 4, len(steps) / 3)


def is_common(spelled: Spelled) -> bool:
    """One or two words that everybody uses."""
    return len(spelled.tokens) <= 2 and all(map(_is_common, spelled.tokens))


def _is_common(token: str) -> bool:
    return token in common_words() or len(token) < 3


@cache
def common_words() -> frozenset[str]:
    """The stop list, spelled out as values are."""
    text = files("shared.leaks").joinpath("common.txt").read_text("utf-8")
    return frozenset(token for line in text.splitlines() if not line.startswith("#") for token in spell(line).tokens)
