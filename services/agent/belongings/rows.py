"""The holding of every owned table that no part speaks for: so that a new table is exported and deleted without anybody thinking of it."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from sqlalchemy import MetaData, Table

from schemas.outward import Owner
from services.agent.belongings.domain import STAYS
from services.agent.belongings.store import delete_rows, read_rows
from shared.db import Database

_WHOSE = ("owner_kind", "owner_id")


class Rows:
    """`spoken_for`: tables of other holdings."""

    name = "all else"

    def __init__(
        self, db: Database, core: MetaData, owned: frozenset[str], grants: Mapping[str, Mapping[str, Any]], spoken_for: frozenset[str]
    ) -> None:  # fmt: skip
        self._db = db
        mine = owned - spoken_for
        self._all = [table for table in core.sorted_tables if table.name in mine]
        self._deleted = [
            table
            for table in reversed(self._all)
            if table.name not in STAYS and grants.get(table.name, {}).get("delete")
        ]

    @property
    def tables(self) -> frozenset[str]:
        return frozenset(table.name for table in self._all)

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """One JSON file for each table that has rows."""
        for table in self._all:
            rows = await self._read(table, owner)
            if rows:
                yield f"{table.name}.json", b"[\n" + b",\n".join(rows) + b"\n]\n"

    async def _read(self, table: Table, owner: Owner) -> list[bytes]:
        columns = [column.name for column in table.columns if column.name not in _WHOSE]
        order = [column.name for column in table.primary_key.columns]
        async with self._db.owned(owner) as tx:
            found = read_rows(tx, table.name, columns or list(_WHOSE), order, owner)
            return [json.dumps(row, ensure_ascii=False).encode() async for row in found]

    async def forget(self, owner: Owner) -> int:
        async with self._db.owned(owner) as tx:
            return sum([await delete_rows(tx, table.name, owner) for table in self._deleted])
