"""A small shop as an app of plain tables, in a schema of its own for each test."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from schemas.work import AppDeclaration, Column, Table
from services.console.apps.domain import InstalledApp
from services.console.apps.usecases.create_plain import create_plain
from services.console.people.domain import Caller
from services.console.records.domain import How
from services.console.records.usecases.add_records import add_records
from services.console.records.usecases.change_record import change_record
from services.console.records.usecases.delete_records import delete_records
from services.console.records.usecases.undo_change import undo_change
from tests.services.console.conftest import Desk

OWNER = Caller(str(uuid4()), "Mara Okonjo", "owner")
TOM = Caller(str(uuid4()), "Tom Brandt", "member")
VIEWER = Caller(str(uuid4()), "Vera", "viewer")
CUSTOMERS = Table(
    name="customers",
    key=("code",),
    name_by="name",
    columns=(
        Column(name="code"),
        Column(name="name", required=True),
        Column(name="country", index=True),
        Column(name="since", type="date"),
        Column(name="credit", type="decimal", index=True),
        Column(name="active", type="boolean"),
        Column(name="stage", choices=("lead", "won", "lost")),
        Column(name="extra", type="json"),
        Column(name="seen", type="instant"),
        Column(name="visits", type="integer", index=True),
    ),
)
ORDERS = Table(
    name="orders",
    columns=(Column(name="customer", references="customers.code", index=True), Column(name="note")),
)


@dataclass
class Shop:
    """Use cases on one app."""

    desk: Desk
    app: InstalledApp

    async def add(self, table: str, *rows: Mapping[str, str | None], how: How = "page", by: Caller = TOM) -> list[str]:
        async with self.desk.db.transaction() as tx:
            return await add_records(tx, self.app, table, rows, by, how)

    async def change(
        self, table: str, key: str, by: Caller = TOM, was: dict[str, str] | None = None, **values: str | None
    ) -> str:
        async with self.desk.db.transaction() as tx:
            return await change_record(tx, self.app, table, key, values, by, "page", was)

    async def delete(self, table: str, *keys: str) -> list[dict[str, Any]]:
        async with self.desk.db.transaction() as tx:
            return await delete_records(tx, self.app, table, keys, TOM, "page")

    async def undo(self, table: str, position: int) -> str:
        async with self.desk.db.transaction() as tx:
            return await undo_change(tx, self.app, table, position, OWNER)

    async def rows(self, table: str) -> list[dict[str, Any]]:
        return await self.desk.rows(f'SELECT * FROM "{self.app.schema_name}"."{table}" ORDER BY 1')

    async def history(self, table: str) -> list[dict[str, Any]]:
        sql = "SELECT * FROM app.record_history WHERE app = $1 AND table_name = $2 ORDER BY position"
        return await self.desk.rows(sql, self.app.slug, table)


@pytest.fixture
async def shop(desk: Desk) -> AsyncIterator[Shop]:
    declaration = AppDeclaration(
        slug=f"shop-{uuid4().hex[:10]}", title="Shop", kind="application", tables=(CUSTOMERS, ORDERS)
    )
    async with desk.db.transaction() as tx:
        app = await create_plain(tx, declaration, OWNER, desk.key)
    yield Shop(desk, app)
