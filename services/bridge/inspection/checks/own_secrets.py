"""Values of our own secrets, known by keyed fingerprints alone (S14). No finding carries one, or says which secret it is."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it.token import Token

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks.active import addresses
from shared.fingerprints import WINDOW, first_of, whole_of

_BLOCKED = "The lock stopped this: it contains a value of the secret store"
_RUN = re.compile(rb"\S{%d,}" % WINDOW)
_BROKEN = re.compile(rb"(?<=\S{%d})[ \t]*\r?\n[ \t>*]*(?=\S{2})" % WINDOW)
"""A line break between two long runs: what was folded to fit a page is one value."""
_TAG = re.compile(r"<[^<>]{0,2000}>")
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))


class OwnSecrets:
    """A set of fingerprints, ready to look with. Built from what the bridge sends (inspection.known.Known)."""

    def __init__(self, seeking: bytes, entries: list[list[Any]]) -> None:
        self._seeking = seeking
        self._spaced = any(spaced for *_, spaced in entries)
        self._known: dict[bytes, list[tuple[int, bytes]]] = {}
        for length, first, whole, _ in entries:
            self._known.setdefault(bytes.fromhex(first), []).append((length, bytes.fromhex(whole)))

    @classmethod
    def of_frame(cls, said: dict[str, Any]) -> "OwnSecrets":
        return cls(bytes.fromhex(said["seeking"]), said["entries"])

    def values(self, text: str, looked: set[bytes]) -> dict[str, int]:
        """Each value that stands in the text, also folded over lines, and the line in which it begins, from 1 (folded: the first).

        `looked`: windows that begin no value; each is hashed once for all texts of a submission.
        """
        raw = text.encode("utf-8", "replace")
        folded = _BROKEN.sub(b"", raw)
        found = dict.fromkeys(self._within(folded, looked), 1) if folded != raw else {}
        found |= {value: raw.count(b"\n", 0, at) + 1 for value, at in self._within(raw, looked).items()}
        return {value.decode("utf-8", "replace"): line for value, line in found.items()}

    def _within(self, raw: bytes, looked: set[bytes]) -> dict[bytes, int]:
        """Value -> where it begins."""
        found: dict[bytes, int] = {}
        for start, run in self._runs(raw):
            for at in range(len(run) - WINDOW + 1):
                window = run[at : at + WINDOW]
                if window in looked:
                    continue
                known = self._known.get(first_of(self._seeking, window))
                if known is None:
                    looked.add(window)
                    continue
                for value in self._whole(raw, start + at, known):
                    found.setdefault(value, start + at)
        return found

    def _runs(self, raw: bytes) -> Iterator[tuple[int, bytes]]:
        """Where a value can begin: within what no space interrupts, unless a value with spaces is known."""
        if self._spaced:
            yield 0, raw
            return
        for run in _RUN.finditer(raw):
            yield run.start(), run[0]

    def _whole(self, raw: bytes, at: int, known: list[tuple[int, bytes]]) -> Iterator[bytes]:
        for length, whole in known:
            value = raw[at : at + length]
            if len(value) == length and whole_of(self._seeking, value) == whole:
                yield value


def check(own: OwnSecrets, texts: Mapping[str, str], tokens: Sequence[Token], hidden: set[str]) -> Iterator[Finding]:
    """A `block` finding for each text that holds any; `hidden` learns what no other finding may quote. `texts`: by place, "" the body."""
    looked: set[bytes] = set()
    found: dict[str, int] = {}
    for where, text in texts.items():
        found = own.values(text, looked)
        if found:
            hidden.update(found)
            line = None if where else min(found.values())
            yield Finding(
                level="block",
                rule="own_secret",
                message=f"In the {where}: {_BLOCKED}" if where else _BLOCKED,
                line=line,
            )
    shown = own.values("\n".join(as_shown(tokens)), looked)
    hidden.update(shown)
    if shown and not found:  # the body came last
        yield Finding(level="block", rule="own_secret", message=f"{_BLOCKED}, put together from pieces")


def as_shown(tokens: Sequence[Token]) -> Iterator[str]:
    """What a reader sees, block by block, without markup and without what is not seen; and where links lead."""
    for token in tokens:
        if token.type == "html_block":
            yield _unmarked(token.content)
        elif token.children:
            yield "".join([_piece(child) for child in token.children]).translate(_UNSEEN)
    yield from (address for _, address in addresses(tokens))


def _piece(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return _unmarked(token.content) if token.type == "html_inline" else token.content


def _unmarked(raw: str) -> str:
    return html.unescape(_TAG.sub("", raw)).translate(_UNSEEN)
