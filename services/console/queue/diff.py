"""Side-by-side difference of two texts, line by line with the words that differ marked."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

Parts = tuple[tuple[bool, str], ...]
"""A line in pieces: (marked, text)."""
MOST_LINES = 6000
"""Above this the comparison may take seconds; the whole source is shown instead."""
CONTEXT = 3
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE = 0.35


@dataclass(frozen=True)
class Row:
    """`same`, `chg`, `cut` (left only), `add` (right only) or `gap` (`skipped` unchanged lines are not shown)."""

    kind: Literal["same", "chg", "cut", "add", "gap"]
    old_no: int | None = None
    old: Parts = ()
    new_no: int | None = None
    new: Parts = ()
    skipped: int = 0


@dataclass(frozen=True)
class Diff:
    """Rows for the table, and how many lines changed, were added, were removed."""

    rows: tuple[Row, ...]
    changed: int
    added: int
    removed: int

    @property
    def is_empty(self) -> bool:
        return not (self.changed or self.added or self.removed)


def compare(old: str, new: str, context: int | None = CONTEXT) -> Diff | None:
    """None when the texts are too long to compare. `context` None shows every unchanged line."""
    left, right = old.split("\n"), new.split("\n")
    if max(len(left), len(right)) > MOST_LINES:
        return None
    rows = tuple(_rows(left, right, context))
    count = {kind: sum(row.kind == kind for row in rows) for kind in ("chg", "add", "cut")}
    return Diff(rows, count["chg"], count["add"], count["cut"])


def whole(text: str) -> Diff:
    """The text as it is, every line with its number."""
    rows = tuple(Row("same", None, (), number, _plain(line)) for number, line in enumerate(text.split("\n"), start=1))
    return Diff(rows, 0, 0, 0)


def _plain(line: str) -> Parts:
    return ((False, line),)


def _rows(left: Sequence[str], right: Sequence[str], context: int | None) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=len(left) > 2000)
    codes = matcher.get_opcodes()
    for index, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            yield from _unchanged(right, a, c, d - c, context, first=index == 0, last=index == len(codes) - 1)
        else:
            yield from _block(left[a:b], right[c:d], a, c)


def _unchanged(
    lines: Sequence[str], old: int, new: int, length: int, context: int | None, *, first: bool, last: bool
) -> Iterator[Row]:
    before = 0 if first else context or 0
    after = 0 if last else context or 0
    folds = context is not None and length > before + after + 1
    for offset in range(length):
        hidden = folds and before <= offset < length - after
        if not hidden:
            line = _plain(lines[new + offset])
            yield Row("same", old + offset + 1, line, new + offset + 1, line)
        elif offset == before:
            yield Row("gap", skipped=length - before - after)


def _block(old: Sequence[str], new: Sequence[str], a: int, c: int) -> Iterator[Row]:
    """A changed block: lines that resemble each other stand side by side, the rest alone."""
    for offset, (left, right) in enumerate(zip_longest(old, new)):
        if left is None:
            yield Row("add", new_no=c + offset + 1, new=_plain(right))
        elif right is None:
            yield Row("cut", a + offset + 1, _plain(left))
        else:
            marked = _words(left, right)
            if marked is None:
                yield Row("cut", a + offset + 1, _plain(left))
                yield Row("add", new_no=c + offset + 1, new=_plain(right))
            else:
                yield Row("chg", a + offset + 1, marked[0], c + offset + 1, marked[1])


def _words(left: str, right: str) -> tuple[Parts, Parts] | None:
    """Both lines in pieces, or None when they have too little in common to be the same line."""
    if len(left) + len(right) > 8000:
        return ((True, left),), ((True, right),)
    old, new = _WORD.findall(left), _WORD.findall(right)
    matcher = difflib.SequenceMatcher(str.isspace, old, new, autojunk=False)
    pairs = [(tag != "equal", "".join(old[a:b]), "".join(new[c:d])) for tag, a, b, c, d in matcher.get_opcodes()]
    common = sum(len(text.replace(" ", "")) for marked, text, _ in pairs if not marked)
    if 2 * common < _ALIKE * len((left + right).replace(" ", "")):
        return None
    return (
        tuple((marked, text) for marked, text, _ in pairs if text),
        tuple((marked, text) for marked, _, text in pairs if text),
    )
