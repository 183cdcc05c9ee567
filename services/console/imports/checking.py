"""A file's rows, typed; what does not fit is named by line. Pure, and in portions, so that nobody else waits meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.console.imports.domain import MOST_ROWS, Options, Sheet, cell, rows_of
from services.console.records.domain import Shape, check_key
from services.console.records.values import Value, read_value
from shared.errors import Refused

PORTION = 500
KEPT = 1000
"""Bad lines that are named; more are counted."""


@dataclass(frozen=True)
class Bad:
    """A line that does not fit, and why."""

    line: int
    words: str


@dataclass
class Checked:
    """`rows`: values by `columns`; `lines`: where each stands in the file. `bad`: the first thousand; `bad_count`: all.

    `mended`: lines with separators inside a value that nobody quoted, the first thousand.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: list[Bad] = field(default_factory=list)
    bad_count: int = 0
    mended: list[int] = field(default_factory=list)
    mended_count: int = 0

    def complain(self, line: int, words: str) -> None:
        self.bad_count += 1
        if len(self.bad) < KEPT:
            self.bad.append(Bad(line, words))

    def without(self, lines: dict[int, str]) -> None:
        """Rows that the database would not take."""
        for line, words in sorted(lines.items()):
            self.complain(line, words)
        kept = [number for number, line in enumerate(self.lines) if line not in lines]
        self.rows, self.lines = [self.rows[each] for each in kept], [self.lines[each] for each in kept]
        self.bad.sort(key=lambda each: each.line)


def check_rows(shape: Shape, sheet: Sheet, options: Options, checked: Checked) -> Iterator[int]:
    """Fills `checked`; yields how many rows were read after each portion."""
    read = _readers(shape, sheet)
    seen: dict[tuple[Value, ...], int] = {}
    named = [checked.columns.index(each) for each in shape.key] if set(shape.key) <= set(checked.columns) else []
    count, line = 0, 1
    for count, (line, cells) in enumerate(_body(sheet), start=1):
        if count > MOST_ROWS:
            raise Refused(f"A file has at most {MOST_ROWS:,} rows; send it in parts.", code="too_large")
        try:
            whole = mend(cells, sheet)
            row = _row(whole, len(sheet.header), read, options.null, comma=sheet.comma)
            key = tuple(row[each] for each in named)
            check_key(shape, dict(zip(shape.key, key, strict=False)))
            if named and key in seen:
                raise Refused(f"this key stands in line {seen[key]:,} already.")
            seen[key] = line
            checked.rows.append(row)
            checked.lines.append(line)
            if whole is not cells:
                checked.mended_count += 1
                checked.mended += [line] if checked.mended_count <= KEPT else []
        except Refused as error:
            checked.complain(line, error.message)
        if count % PORTION == 0:
            yield count
    if sheet.text.count('"') % 2:
        raise Refused(f"A quote does not close; the file was read up to line {line:,} as one value. Look for a lone \" in it.", code="csv")  # fmt: skip
    yield count


def mend(cells: list[str], sheet: Sheet) -> list[str]:
    """The same cells, unless there are too many and exactly those begin with a space: then nobody quoted `24, place Kléber`, and the separator was part of the value."""
    surplus = len(cells) - len(sheet.header)
    if surplus <= 0 or sheet.spaced or sum(each.startswith(" ") for each in cells[1:]) != surplus:
        return cells
    whole: list[str] = []
    for each in cells:
        if whole and each.startswith(" "):
            whole[-1] += sheet.delimiter + each
        else:
            whole.append(each)
    return whole


def _body(sheet: Sheet) -> Iterator[tuple[int, list[str]]]:
    found = rows_of(sheet.text, sheet.delimiter)
    next(found, None)
    return found


def _readers(shape: Shape, sheet: Sheet) -> list[tuple[int, Any]]:
    """(position in the file, column), keys as required."""
    needed = {
        each.name: each.model_copy(update={"required": each.required or each.name in shape.key})
        for each in shape.columns.values()
    }
    return [(at, needed[name]) for at, name in enumerate(sheet.columns) if name is not None]


def _row(cells: list[str], width: int, read: list[tuple[int, Any]], null: str, *, comma: bool) -> tuple[Value, ...]:
    if len(cells) != width:
        raise Refused(f"it has {len(cells)} values, and the header names {width}.")
    return tuple(read_value(column, cell(cells[at], null), comma=comma) for at, column in read)
