"""Apps of plain tables: made, extended, never emptied; a person's signed word stands beside each."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from schemas.statements import Signed
from schemas.work import AppApproval, AppDeclaration, Column, Table
from services.console.apps.declared import place, sql_table
from services.console.apps.domain import InstalledApp, check_declaration
from services.console.apps.usecases.create_plain import create_plain
from services.console.apps.views import Catalogue
from services.console.people.domain import OPERATOR, Caller
from shared.errors import Forbidden, Refused
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk

ORDERS = Table(
    name="orders",
    key=("number",),
    columns=(
        Column(name="number", type="integer"),
        Column(name="customer", references="customers.code"),
        Column(name="order", type="text"),
        Column(name="total", type="decimal", visibility="shareable"),
        Column(name="placed", type="date", index=True),
        Column(name="seen", type="instant"),
        Column(name="open", type="boolean"),
        Column(name="more", type="json"),
    ),
)
CUSTOMERS = Table(
    name="customers", key=("code",), columns=(Column(name="code"), Column(name="mail", unique=True), Column(name="best", references="orders.number", type="integer")),
)  # fmt: skip


def declaration(*tables: Table, slug: str = "") -> AppDeclaration:
    return AppDeclaration(slug=slug or f"t-{uuid4().hex[:8]}", title="Trial", kind="application", tables=tables)


async def install(desk: Desk, made: AppDeclaration, by: Caller = OPERATOR) -> InstalledApp:
    async with desk.db.transaction() as tx:
        return await create_plain(tx, made, by, desk.key)


async def test_declared_tables_are_made_and_hold_every_type(desk: Desk) -> None:
    """Tables may refer to one another in a circle, and columns may be called like words of SQL."""
    app = await install(desk, declaration(ORDERS, CUSTOMERS))
    assert app.version == 1
    await fill(desk, app)
    [row] = await desk.rows(f"SELECT * FROM {place(app, 'orders')}")
    assert (row["total"], row["placed"], row["_version"]) == (Decimal("1.10"), date(2026, 3, 1), 1)


async def fill(desk: Desk, app: InstalledApp) -> None:
    values: dict[str, Any] = {
        "number": 7,
        "order": "x",
        "total": Decimal("1.10"),
        "placed": date(2026, 3, 1),
        "more": {"a": [1]},
    }
    async with desk.db.transaction() as tx:
        await tx.execute(sql_table(app, "customers").insert().values(code="A1", mail="a@example.org"))
        await tx.execute(sql_table(app, "orders").insert().values(customer="A1", **values))


async def test_a_new_installation_adds_and_takes_nothing_away(desk: Desk) -> None:
    made = declaration(ORDERS, CUSTOMERS)
    app = await install(desk, made)
    await fill(desk, app)
    wider = CUSTOMERS.model_copy(update={"columns": (CUSTOMERS.columns[0], Column(name="city", index=True))})
    app = await install(desk, declaration(wider, slug=made.slug))
    assert app.version == 2
    async with desk.db.transaction() as tx:
        await tx.execute(sql_table(app, "customers").insert().values(code="B2", city="Ulm"))
    rows = await desk.rows(f'SELECT code, mail, city FROM "{app.schema_name}".customers ORDER BY code')
    assert [tuple(row.values()) for row in rows] == [("A1", "a@example.org", None), ("B2", None, "Ulm")]
    logged = await desk.rows("SELECT statement FROM app.schema_changes WHERE statement LIKE $1", f"%{app.schema_name}%")
    assert any("ADD COLUMN city" in row["statement"] for row in logged)
    assert not any("DROP" in row["statement"].replace("DROP NOT NULL", "") for row in logged)


async def test_an_installation_that_would_destroy_is_refused_whole(desk: Desk) -> None:
    made = declaration(ORDERS, CUSTOMERS)
    await fill(desk, await install(desk, made))
    for changed, says in (
        (CUSTOMERS.model_copy(update={"key": ()}), "The key of customers is code"),
        (CUSTOMERS.model_copy(update={"columns": (*CUSTOMERS.columns, Column(name="born", type="date", required=True))}), "NOT NULL"),
        (CUSTOMERS.model_copy(update={"columns": (CUSTOMERS.columns[0], Column(name="mail", type="date"))}), "changing a type"),
    ):  # fmt: skip
        with pytest.raises(Refused, match=says):
            await install(
                desk, declaration(changed, ORDERS.model_copy(update={"columns": ORDERS.columns[:1]}), slug=made.slug)
            )
    app = await Catalogue(desk.db).app(made.slug)
    assert app is not None and (app.version, app.declaration) == (1, made)


async def test_a_persons_word_is_signed_and_nobody_else_installs(desk: Desk, keys: PublicKeys) -> None:
    made = declaration(CUSTOMERS.model_copy(update={"columns": CUSTOMERS.columns[:2]}))
    with pytest.raises(Forbidden):
        await install(desk, made, Caller("m", "Mara", "moderator"))
    await install(desk, made)
    [row] = await desk.rows("SELECT payload, signature, key_id FROM app.app_decisions WHERE slug = $1", made.slug)
    word = keys.verify("decision", Signed(**row), AppApproval)
    assert (word.verdict, word.folder_hash) == ("install", made.hash)
    assert word.decided_at < datetime.max.replace(tzinfo=word.decided_at.tzinfo)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (Table(name="t", columns=(Column(name="a"), Column(name="a"))), "twice"),
        (Table(name="t", columns=(Column(name="id"),)), "taken by the system"),
        (Table(name="t", columns=(Column(name="a"),), key=("b",)), "no column of it"),
        (Table(name="t", columns=(Column(name="a", references="x.y"),)), "no table x"),
        (Table(name="t", columns=(Column(name="a"), Column(name="b", references="t.a"))), "must be unique"),
        (Table(name="t", columns=(Column(name="a", unique=True), Column(name="b", type="date", references="t.a"))), "same type"),
        (Table(name="t", columns=(Column(name="a", type="json", unique=True),)), "is JSON"),
    ],
)  # fmt: skip
def test_a_declaration_that_means_nothing_is_refused_with_table_and_column(table: Table, says: str) -> None:
    with pytest.raises(Refused, match=says):
        check_declaration(declaration(table))
