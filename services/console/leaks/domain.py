"""Which columns have fingerprints, and what becomes of a row's values. No framework."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from schemas.work import Column, Table
from services.console.apps.domain import InstalledApp, is_internal, key_columns
from services.console.records.values import show_value
from shared.leaks.marks import marks

TYPES = frozenset({"text", "json", "integer", "decimal"})
"""Dates, times, yes and no are never told: each could be guessed (S14)."""
PART = 60_000
"""Marks that one event adds at most."""
PART_REMOVED = 10_000
COMPACT = 200
"""Events after which a column is told anew, in one."""


@dataclass(frozen=True, order=True)
class Name:
    """Where an internal column lies."""

    app: str
    table: str
    column: str

    @property
    def label(self) -> str:
        return f"{self.app}: {self.table}.{self.column}"


@dataclass(frozen=True)
class Guarded:
    """A table with internal columns. `columns`: their names, in order; `key`: the columns that name a row."""

    app: str
    schema: str
    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    documents: frozenset[str]
    """Those of them that hold JSON."""


def guarded(apps: Iterable[InstalledApp]) -> dict[tuple[str, str], Guarded]:
    """By app and table. An app that is stopped keeps its rows, and so its fingerprints."""
    found = (_guarded(app, table) for app in apps for table in app.declaration.tables)
    return {(each.app, each.table): each for each in found if each.columns}


def _guarded(app: InstalledApp, table: Table) -> Guarded:
    meant = [column for column in table.columns if has_fingerprints(column)]
    documents = frozenset(column.name for column in meant if column.type == "json")
    names = tuple(column.name for column in meant)
    return Guarded(app.slug, app.schema_name, table.name, key_columns(table), names, documents)


def has_fingerprints(column: Column) -> bool:
    """What has a few known values only is no secret by itself."""
    return is_internal(column) and column.type in TYPES and not column.choices


def names_of(tables: Iterable[Guarded]) -> set[Name]:
    return {Name(table.app, table.table, column) for table in tables for column in table.columns}


def row_number(seeking: bytes, key: Sequence[str]) -> int:
    """What a row's marks are kept under; nothing can be read from it."""
    said = json.dumps(list(key), ensure_ascii=False).encode("utf-8", "replace")
    return _signed(blake2b(said, digest_size=8, key=seeking, person=b"leak row").digest())


def key_of(row: Mapping[str, Any], table: Guarded) -> list[str]:
    """As whoever changes rows names them."""
    return [show_value(row[f"_key_{number}"]) for number in range(len(table.key))]


def rows_marks(
    seeking: bytes, table: Guarded, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]
) -> list[tuple[int, int, int]]:
    """(column's number, row's number, mark) of what rows hold; marks as Postgres keeps them. `numbers`: of the table's columns."""
    found = []
    for row in rows:
        row_no = row_number(seeking, key_of(row, table))
        for column, number in numbers.items():
            value = row[column]
            if value is not None:
                texts = _texts(json.loads(value) if column in table.documents else value)
                found += [(number, row_no, _signed(mark)) for text in texts for mark in marks(seeking, text)]
    return found


def _texts(value: Any) -> Iterator[str]:
    """Of JSON every text and number in it."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif not isinstance(value, bool | None):
        yield show_value(value) if not isinstance(value, float) else repr(value)


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, signed=True)


def joined(found: Iterable[int]) -> bytes:
    """Marks as an event carries them, in no order that says anything."""
    return b"".join(each.to_bytes(8, signed=True) for each in sorted(found))
