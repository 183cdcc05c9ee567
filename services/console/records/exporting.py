"""A table as a file, portion by portion: as long as it may be, it is never in memory at once."""

import csv
import io
import json
from collections.abc import AsyncIterator, Sequence

from sqlalchemy import RowMapping

from services.console.imports.domain import tamed
from services.console.records import views
from services.console.records.domain import Filter, Shape
from services.console.records.values import plain_value, show_value
from shared.db import Database

PORTION = 2000
FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def portions(db: Database, shape: Shape, filters: Sequence[Filter]) -> AsyncIterator[Sequence[RowMapping]]:
    """Each in a transaction of its own: whoever reads slowly holds nothing."""
    after = ""
    while True:
        async with db.reading() as tx:
            rows, after = await views.portion(tx, shape, filters, after, PORTION)
        yield rows
        if not after:
            return


async def as_csv(db: Database, shape: Shape, filters: Sequence[Filter]) -> AsyncIterator[bytes]:
    """UTF-8 with a header of column names; no text is taken for a formula by whoever opens it."""
    yield csv_lines(shape, (), header=True)
    async for rows in portions(db, shape, filters):
        yield csv_lines(shape, rows, header=False)


def csv_lines(shape: Shape, rows: Sequence[RowMapping], *, header: bool) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if header:
        writer.writerow(shape.columns)
    writer.writerows([_cell(shape, name, row) for name in shape.columns] for row in rows)
    return out.getvalue().encode()


def _cell(shape: Shape, name: str, row: RowMapping) -> str:
    text = show_value(row[name])
    return tamed(text) if shape.columns[name].type in {"text", "json"} else text


async def as_json(db: Database, shape: Shape, filters: Sequence[Filter]) -> AsyncIterator[bytes]:
    """A list of objects; decimals, dates and times as text, NULL as null."""
    opening = b"[\n"
    async for rows in portions(db, shape, filters):
        told = [
            json.dumps({name: plain_value(row[name]) for name in shape.columns}, ensure_ascii=False) for row in rows
        ]
        if told:
            yield opening + ",\n".join(told).encode()
            opening = b",\n"
    yield b"[]\n" if opening == b"[\n" else b"\n]\n"
