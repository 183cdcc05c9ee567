"""From a value to what the lock may know of it: which encodings are looked for, and which values are too weak to be named at all. Pure."""

import base64
import html
import json
import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import quote, quote_plus

from schemas.connectors.v1 import Fingerprint
from shared.fingerprints import WINDOW, FingerprintKey, first_of, whole_of

LEAST_BITS = 32.0
"""Weaker values are never fingerprinted (S14): whoever has the key could find them by trying."""
LONE_RUN = 24
"""Bytes of an unbroken run that is looked for alone, where a value has spaces or line breaks: a line of a PEM file, not a word of a sentence."""
SCRIPT_SAFE = "!'()*"
"""What JavaScript's encodeURIComponent leaves as it is."""


def fingerprints(value: str, key: FingerprintKey) -> frozenset[Fingerprint]:
    """Of the value and its encodings; none when it is too short or too weak."""
    raw = value.strip().encode()
    if len(raw) < WINDOW or bits(raw) < LEAST_BITS:
        return frozenset()
    pieces = {*_plain(raw), *_base64(raw), *_escaped(value.strip()), raw.hex().encode(), raw.hex().upper().encode()}
    return frozenset(_fingerprint(each, key) for each in pieces if len(each) >= WINDOW)


def canary(key: FingerprintKey) -> Fingerprint:
    """Every set holds it."""
    return _fingerprint(key.canary.encode(), key)


def bits(raw: bytes) -> float:
    """How much guessing it takes at least, estimated: the entropy of its characters or of the steps between them, whichever is
    smaller, so that `abcdefghijkl`, `111111111111` and `20202020202020` count as what they are."""
    steps = [(after - before) % 256 for before, after in pairwise(raw)]
    return min(_entropy(raw), _entropy(steps), _entropy(raw[: _period(raw)]))


def _entropy(symbols: bytes | list[int]) -> float:
    counts, total = Counter(symbols), len(symbols)
    return -sum(each * math.log2(each / total) for each in counts.values())


def _period(raw: bytes) -> int:
    """After how many bytes it repeats itself."""
    return (raw + raw).find(raw, 1)


def _plain(raw: bytes) -> list[bytes]:
    words = raw.split()
    return (
        [raw]
        if len(words) == 1
        else [each for each in words if len(each) >= LONE_RUN and bits(each) >= LEAST_BITS] or [raw]
    )


def _base64(raw: bytes) -> Iterator[bytes]:
    """As it looks inside of anything that is encoded as a whole: at each of three places in a group, what does not depend on its neighbours."""
    for before, dropped in ((0, 0), (1, 2), (2, 3)):
        shifted = bytes(before) + raw
        core = slice(dropped, len(shifted) * 8 // 6)
        yield base64.b64encode(shifted)[core]
        yield base64.urlsafe_b64encode(shifted)[core]


def _escaped(value: str) -> Iterator[bytes]:
    """In addresses, forms, JSON and HTML; where nothing needs to be escaped it is the value again."""
    for safe in ("", "/", SCRIPT_SAFE):
        quoted = quote(value, safe=safe)
        yield quoted.encode()
        yield _lower_percents(quoted).encode()
    yield quote_plus(value).encode()
    for each in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], html.escape(value)):
        if len(each.split()) == 1:
            yield each.encode()


def _lower_percents(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return "%".join([head, *(each[:2].lower() + each[2:] for each in rest)])


def _fingerprint(piece: bytes, key: FingerprintKey) -> Fingerprint:
    window = piece[:WINDOW]
    return Fingerprint(
        length=len(piece),
        first=first_of(key.seeking, window).hex(),
        whole=whole_of(key.seeking, piece).hex(),
        spaced=len(window.split()) != 1 or len(window.strip()) != WINDOW,
    )
