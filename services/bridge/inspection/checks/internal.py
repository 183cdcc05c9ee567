"""Values of internal columns, known by keyed fingerprints alone (S14), whatever they are written like."""

from array import array
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from sys import byteorder
from typing import Any

from markdown_it.token import Token

from schemas.bridge.v1 import Finding
from services.bridge.inspection.checks.own_secrets import as_shown
from shared.leaks.key import MARK
from shared.leaks.words import Spelled, readings, runs, spell

RULE = "internal_value"
FILTER_BITS = 24
"""A byte for each beginning of a mark: what no column knows is ruled out by one look."""
MERGE = 20_000
MOST = 40
"""Places of one text that are listed."""


class MarkSet:
    """The marks of one column: many that are sorted, and some that came or went since."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._sorted = array("Q")
        self._fresh, self._gone = set[int](), set[int]()

    def change(self, added: "array[int]", removed: "array[int]") -> None:
        for mark in removed:
            self._gone.add(mark)
        self._fresh -= self._gone
        self._fresh.update(added)
        self._gone -= self._fresh
        if len(self._fresh) > MERGE or len(self._gone) > MERGE:
            merged, gone = sorted([*self._sorted, *self._fresh]), self._gone
            self._sorted = array("Q", [each for each in merged if each not in gone] if gone else merged)
            self._fresh, self._gone = set(), set()

    def __contains__(self, mark: int) -> bool:
        if mark in self._fresh:
            return True
        at = bisect_left(self._sorted, mark)
        return at < len(self._sorted) and self._sorted[at] == mark and mark not in self._gone


class InternalColumns:
    """What the bridge told, ready to look with (inspection.columns.Columns)."""

    def __init__(self) -> None:
        self._seeking = b""
        self._sets: dict[str, MarkSet] = {}
        self._filter = bytearray(1 << FILTER_BITS)

    def learn(self, said: dict[str, Any]) -> None:
        """A frame: {"seeking"} begins anew; {"column", "label", "whole", "dropped", "added", "removed"} is an event."""
        if "seeking" in said:
            self._seeking, self._sets = bytes.fromhex(said["seeking"]), {}
            self._filter = bytearray(1 << FILTER_BITS)
            self._learn_marks("canary", "canary", array("Q", [self._mark(spell(said["canary"]).whole)]), array("Q"))
            return
        column = said["column"]
        if said["dropped"]:
            self._sets.pop(column, None)
            return
        if said["whole"] or column not in self._sets:
            self._sets[column] = MarkSet(said["label"])
        self._learn_marks(column, said["label"], _marks(said["added"]), _marks(said["removed"]))

    def _learn_marks(self, column: str, label: str, added: "array[int]", removed: "array[int]") -> None:
        marks = self._sets.setdefault(column, MarkSet(label))
        marks.label = label
        for mark in added:
            self._filter[mark >> (64 - FILTER_BITS)] = 1
        marks.change(added, removed)

    def _mark(self, run: str) -> int:
        return int.from_bytes(blake2b(run.encode("utf-8", "replace"), digest_size=MARK, key=self._seeking).digest())

    def values(self, spelled: Spelled) -> Iterator[tuple[int, int, str]]:
        """(first token, the one after the last, column) of what stands in a text; of overlapping ones the longest that begins first."""
        known, shift, mark_of = self._filter, 64 - FILTER_BITS, self._mark
        found = dict[int, tuple[int, str]]()
        for first, after, run in runs(spelled):
            mark = mark_of(run)
            if known[mark >> shift] and (label := self._label(mark)):
                found[first] = (after, label)
        reached = 0
        for first, (after, label) in sorted(found.items()):
            if after > reached:
                yield first, after, label
            reached = max(reached, after)

    def _label(self, mark: int) -> str:
        return next((each.label for each in self._sets.values() if mark in each), "")


def _marks(raw: str) -> "array[int]":
    found = array("Q", b64decode(raw))
    if byteorder == "little":
        found.byteswap()
    return found


def check(columns: InternalColumns, texts: Mapping[str, str], tokens: Sequence[Token]) -> Iterator[tuple[str, Finding]]:
    """(place, `check` finding) for each line that holds one. `texts`: by place, "" the body. What appears only when it is shown has no line."""
    seen = set[object]()
    for where, text in texts.items():
        for spelled in readings(text):
            for first, after, label in islice(columns.values(spelled), MOST):
                place = (where, spelled.line_of(first), label)
                if place not in seen:
                    seen |= {place, label}
                    yield where, _finding(label, place[1], spelled.excerpt(first, after))
    shown = spell("\n".join(as_shown(tokens)))
    for first, after, label in islice(columns.values(shown), MOST):
        if label not in seen:
            seen.add(label)
            yield "", _finding(f"{label}, put together from pieces", None, shown.excerpt(first, after))


def _finding(label: str, line: int | None, excerpt: str) -> Finding:
    message = f"This is a value of the internal column {label}"
    return Finding(level="check", rule=RULE, message=message[:500], line=line, excerpt=excerpt)
