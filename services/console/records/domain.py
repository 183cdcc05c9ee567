"""A table of an app as records are seen, changed and asked for. Pure: no database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, cast
from uuid import UUID

from schemas.text import BadJson, parse_json, text_fault
from schemas.work import Column, Table
from services.console.apps.domain import InstalledApp
from services.console.people.domain import Caller
from services.console.records.values import Value, read_value, show_value
from shared.errors import NotFound, Refused

NUMBER = Column(name="id", type="integer", title="Number")
"""What the console numbers rows by, where the declaration names no key."""
How = Literal["page", "api", "operator", "import", "form", "agent", "job", "undo", "restore"]
Op = Literal["is", "not", "contains", "starts", "less", "more", "from", "to", "empty", "filled"]
OPS: dict[str, str] = {
    "is": "is",
    "not": "is not",
    "contains": "contains",
    "starts": "starts with",
    "less": "is less than",
    "more": "is more than",
    "from": "is at least",
    "to": "is at most",
    "empty": "is empty",
    "filled": "is not empty",
}
"""What a filter may ask, in words."""
WITHOUT_VALUE = frozenset({"empty", "filled"})
AS_TEXT = frozenset({"contains", "starts"})
ROWS, CELLS, COLUMNS, MOST_COLUMNS = 50, 1000, 12, 60
"""A page: rows at most, cells at most, columns shown unless chosen, columns at most."""
MOST_FILTERS = 10
LONGEST_KEY = 2000


@dataclass(frozen=True)
class Shape:
    """One table of one installed app: where it lies and what it is made of."""

    app: str
    app_title: str
    schema: str
    table: Table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def title(self) -> str:
        return self.table.title or self.table.name.replace("_", " ").capitalize()

    @property
    def numbered(self) -> bool:
        """Whether the console numbers the rows itself."""
        return not self.table.key

    @cached_property
    def columns(self) -> dict[str, Column]:
        """All columns by name, the row's number first where the console gives it."""
        declared = {each.name: each for each in self.table.columns}
        return {NUMBER.name: NUMBER} | declared if self.numbered else declared

    @property
    def key(self) -> tuple[str, ...]:
        return self.table.key or (NUMBER.name,)

    def column(self, name: str) -> Column:
        """Refused, naming what there is."""
        found = self.columns.get(name)
        if found is None:
            some = ", ".join(list(self.columns)[:12])
            raise Refused(f"{self.name} has no column {name[:60]!r}; it has {some}.", code="column")
        return found

    def key_of(self, row: Mapping[Any, Any]) -> str:
        return write_key([show_value(row[name]) for name in self.key])

    def key_values(self, key: str) -> dict[str, Value]:
        """NotFound for what cannot be a key of this table: it answers like a row that is not there."""
        texts = read_key(key)
        if len(texts) != len(self.key):
            raise NotFound("There is no such row.")
        try:
            return {name: read_value(self.columns[name], text) for name, text in zip(self.key, texts, strict=True)}
        except Refused:
            raise NotFound("There is no such row.") from None

    def label_of(self, row: Mapping[Any, Any]) -> str:
        """What a person calls the row."""
        named = show_value(row.get(self.table.name_by)) if self.table.name_by else ""
        return named or ", ".join(show_value(row[name]) for name in self.key)


def shape_of(app: InstalledApp, table: str) -> Shape:
    """NotFound when the app has no such table."""
    found = app.table(table)
    if found is None:
        there = ", ".join(each.name for each in app.declaration.tables) or "none"
        raise NotFound(f"{app.slug} has no table {table[:60]!r}; it has {there}.", code="table")
    return Shape(app.slug, app.declaration.title, app.schema_name, found)


def write_key(texts: Sequence[str]) -> str:
    """A row's key as one text: a compact JSON list of its columns' texts."""
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))


def read_key(key: str) -> list[str]:
    try:
        found = parse_json(key.encode("utf-8", "replace")) if len(key) <= LONGEST_KEY else None
    except BadJson:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise NotFound("There is no such row.")
    return found


def check_key(shape: Shape, row: Mapping[Any, Value]) -> None:
    """Refused for a key so long that no address could name its row. A part of the key that the console gives, or that stays, may be missing."""
    if len(write_key([show_value(row.get(name)) for name in shape.key])) > LONGEST_KEY:
        raise Refused(f"{' and '.join(shape.key)}: a row's key has at most {LONGEST_KEY:,} characters.", code="value")


@dataclass(frozen=True)
class Filter:
    column: str
    op: Op
    value: str = ""

    @property
    def written(self) -> str:
        return f"{self.column}:{self.op}:{self.value}"


@dataclass(frozen=True)
class Ask:
    """What of a table is asked for. `after`, `before`: the place of a row (order's value, then key), as texts; at most one of them."""

    filters: tuple[Filter, ...] = ()
    sort: str = ""
    down: bool = False
    after: str = ""
    before: str = ""
    columns: tuple[str, ...] = ()
    limit: int = ROWS


def read_filter(shape: Shape, text: str) -> Filter:
    """`column:op:value`. Refused when the column, the op or the value does not fit."""
    name, _, rest = text.partition(":")
    op, _, value = rest.partition(":")
    column = shape.column(name)
    fault = text_fault(value)
    if fault:
        raise Refused(f"{name}: {fault}", code="filter")
    if op not in OPS:
        raise Refused(f"A filter asks one of {', '.join(OPS)}; this is {op[:20]!r}.", code="filter")
    if column.type == "json" and op not in {"contains", *WITHOUT_VALUE}:
        raise Refused(f"{name} is JSON; ask whether it contains a text.", code="filter")
    if op not in WITHOUT_VALUE | AS_TEXT:
        if not value:
            raise Refused(f"What should {name} be compared with?", code="filter")
        loose = column.model_copy(update={"choices": (), "required": False})
        read_value(loose, value)
    return Filter(name, cast(Op, op), value)


@dataclass(frozen=True)
class Change:
    """One entry of a row's history. `before`, `after`: texts by column, NULL as None; of a change only what differs."""

    key: str
    what: Literal["added", "changed", "deleted"]
    before: Mapping[str, str | None] | None
    after: Mapping[str, str | None] | None


class Who(Protocol):
    """A person, the operator, the agent or a service."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class By:
    """Who changes records, and how: kept with every change. `batch`: what was one word; `undoes`: the entry that is taken back."""

    id: str
    name: str
    how: How
    batch: UUID | None = None
    undoes: int | None = None


def by_whom(who: Who, how: How, batch: UUID | None = None, undoes: int | None = None) -> By:
    """Forbidden for a person whose role changes nothing."""
    if isinstance(who, Caller):
        who.require("submit")
    return By(who.id, who.name, how, batch, undoes)


def texts(shape: Shape, row: Mapping[Any, Any]) -> dict[str, str | None]:
    """A whole row as texts."""
    return {name: None if row[name] is None else show_value(row[name]) for name in shape.columns}
