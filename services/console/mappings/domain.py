"""A mapping: which columns of which rows become which Markdown. Pure. An internal column cannot be picked, nor asked for, nor sorted by."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from services.console.records.domain import NUMBER, Filter, Shape, read_filter
from services.console.records.values import show_value
from shared.errors import Refused, TooLarge

MOST_ROWS = 2000
MOST_PAGES = 200
"""Items of one handing-in, where each row has a page of its own."""
LONGEST = 100_000
_FIELD = re.compile(r"\{\{\s*([#/]?[a-z_][a-z0-9_]*)\s*(?::([^{}]*))?\}\}")
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&:=]|(?<=\d)[.)](?=\s|$))")
_SPACES = re.compile(r"\s+")
_PATH = re.compile(r"[^\w.\-]+")
BLOCK, END, COUNT, TABLE, CHART = "#rows", "/rows", "count", "table", "chart"


@dataclass(frozen=True)
class Report:
    """`columns`: what may be used of the table; `filters`: `column:op:value` each; `path`: with fields, each row has an item of its own."""

    mapping_id: UUID
    name: str
    app: str
    table: str
    columns: tuple[str, ...]
    filters: tuple[str, ...]
    sort: str
    down: bool
    kind: str
    lang: str
    path: str
    audience: str
    template: str = field(repr=False)

    @property
    def by_row(self) -> bool:
        return bool(_FIELD.search(self.path))


@dataclass(frozen=True)
class Piece:
    """Text as it is (`name` empty), or a field; `columns`: those that a table or chart names; `inner`: of a block that is repeated for each row."""

    text: str = ""
    name: str = ""
    columns: tuple[str, ...] = ()
    inner: "tuple[Piece, ...]" = ()


def pickable(shape: Shape) -> list[str]:
    """The columns that a page may show."""
    return [each.name for each in shape.columns.values() if each is not NUMBER and each.visibility == "shareable"]


def check_report(report: Report, shape: Shape) -> list[Filter]:
    """The filters, read. Refused, naming the column, for everything that is internal now, whatever it was when it was picked."""
    if not report.columns:
        raise Refused("Pick at least one column.", code="columns")
    for name in report.columns:
        check_column(shape, name)
    filters = [read_filter(shape, each) for each in report.filters]
    for name in (*(each.column for each in filters), *((report.sort,) if report.sort else ())):
        check_column(shape, name)
    for name in sorted(
        {*_used(read_template(report.template)), *_used(read_template(report.path))} - set(report.columns)
    ):
        check_column(shape, name)
        raise Refused(f"The template uses {name}, which is not picked; pick it, or leave it out.", code="columns")
    return filters


def check_column(shape: Shape, name: str) -> None:
    column = shape.column(name)
    if column is NUMBER or column.visibility != "shareable":
        allowed = ", ".join(pickable(shape)) or "none of them"
        raise Refused(
            f"{shape.app}.{shape.name}.{name} is internal: no page can show it, or be chosen by it. Shareable: {allowed}.",
            code="internal",
        )


def read_template(text: str) -> tuple[Piece, ...]:
    """Refused, saying what is wrong, for a field that there cannot be."""
    if len(text) > LONGEST:
        raise TooLarge(f"A template has at most {LONGEST:,} characters.")
    pieces, outer, at = list[Piece](), list[Piece](), 0
    inside = False
    for found in _FIELD.finditer(text):
        pieces.append(Piece(text[at : found.start()]))
        at, name = found.end(), found[1]
        if name in (BLOCK, END) and (name == BLOCK) == inside:
            raise Refused("{{#rows}} and {{/rows}} come in pairs, not within one another.", code="template")
        if name == BLOCK:
            pieces, outer, inside = [], pieces, True
        elif name == END:
            pieces, inside = [*outer, Piece(name=BLOCK, inner=tuple(pieces))], False
        elif name[0] in "#/":
            raise Refused(
                f"There is no {{{{{name}}}}}; a part for each row is {{{{#rows}}}} … {{{{/rows}}}}.", code="template"
            )
        else:
            pieces.append(_field(name, found[2]))
    if inside:
        raise Refused("{{#rows}} has no {{/rows}}.", code="template")
    return (*pieces, Piece(text[at:]))


def _field(name: str, named: str | None) -> Piece:
    columns = tuple(each.strip() for each in (named or "").split(",") if each.strip())
    if name == CHART and len(columns) != 2:
        raise Refused("A chart names two columns: {{chart: label, value}}.", code="template")
    if columns and name not in (TABLE, CHART):
        raise Refused(f"{{{{{name}: …}}}} is nothing; only table and chart name columns.", code="template")
    return Piece(name=name, columns=columns)


def _used(pieces: Sequence[Piece]) -> Iterator[str]:
    for each in pieces:
        yield from each.columns
        yield from _used(each.inner)
        if each.name not in ("", BLOCK, COUNT, TABLE, CHART):
            yield each.name


def render(report: Report, shape: Shape, rows: Sequence[Mapping[Any, Any]]) -> str:
    """Markdown. What comes from a record is text and nothing else: no mark-up, no link, no heading."""
    return "".join(_pieces(read_template(report.template), report, shape, rows))


def _pieces(pieces: Sequence[Piece], report: Report, shape: Shape, rows: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    for each in pieces:
        match each.name:
            case "":
                yield each.text
            case "#rows":
                for row in rows:
                    yield from _pieces(each.inner, report, shape, [row])
            case "count":
                yield str(len(rows))
            case "table":
                yield _table(shape, each.columns or report.columns, rows)
            case "chart":
                yield _chart(each.columns, rows)
            case name:
                yield inert(show_value(_only(rows, name)[name]))


def _only(rows: Sequence[Mapping[Any, Any]], name: str) -> Mapping[Any, Any]:
    if len(rows) != 1:
        raise Refused(
            f"{{{{{name}}}}} stands outside of {{{{#rows}}}}, and {len(rows)} rows fit; one must, or the path names a column.",
            code="rows",
        )
    return rows[0]


def _table(shape: Shape, columns: Sequence[str], rows: Sequence[Mapping[Any, Any]]) -> str:
    titles = [inert(shape.columns[name].title or name.replace("_", " ")) for name in columns]
    aligned = ["---:" if shape.columns[name].type in ("integer", "decimal") else "---" for name in columns]
    lines = [titles, aligned, *([inert(show_value(row[name])) for name in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _chart(columns: Sequence[str], rows: Sequence[Mapping[Any, Any]]) -> str:
    label, value = columns
    lines = [
        f"{_SPACES.sub(' ', show_value(row[label])).translate(_PLAIN) or '?'},{show_value(row[value]).translate(_PLAIN)}"
        for row in rows
    ]
    return "\n".join(["```chart", *lines, "```"])


_PLAIN = str.maketrans({",": " ", '"': " ", "`": "'", "\n": " ", "\r": " "})


def inert(text: str) -> str:
    """As the reader sees it, on one line."""
    return _MARKS.sub(r"\\\1", _SPACES.sub(" ", text).strip())


def path_of(report: Report, row: Mapping[Any, Any] | None) -> str:
    """The item's path; of a row's own item with the row's values, as far as paths can hold them."""
    if row is None or not report.by_row:
        return report.path
    return _FIELD.sub(
        lambda found: _PATH.sub("-", show_value(row[found[1]])).strip("-.").lower() or "none", report.path
    )
