"""Rows of owned tables, whatever they are: all of one owner, read or deleted."""
# composed of names of our own tables
# ruff: noqa: S608

from base64 import b64encode
from collections.abc import AsyncIterator
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
AT_ONCE = 500


async def read_rows(tx: Tx, table: str, columns: list[str], order: list[str], owner: Owner) -> AsyncIterator[dict[str, Any]]:  # fmt: skip
    """Each as plain JSON: bytes as base64, exact numbers and times as text."""
    query = f"SELECT {', '.join(columns)} FROM core.{table} WHERE {_MINE} ORDER BY {', '.join(order)}"
    async for row in tx.raw.cursor(query, owner.kind, owner.id, prefetch=AT_ONCE):
        yield {name: plain(value) for name, value in row.items()}


async def delete_rows(tx: Tx, table: str, owner: Owner) -> int:
    done: str = await tx.raw.execute(f"DELETE FROM core.{table} WHERE {_MINE}", owner.kind, owner.id)
    return int(done.rsplit(maxsplit=1)[-1])


def plain(value: Any) -> Any:
    match value:
        case bytes():
            return b64encode(value).decode()
        case datetime():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case UUID():
            return str(value)
        case _:
            return value
