"""Records for programs: read, added, changed, deleted over the same use cases as the pages."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query

from services.console.apps.domain import InstalledApp
from services.console.apps.views import get_app, list_apps
from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.records import store, views
from services.console.records.addresses import read_ask
from services.console.records.domain import Shape, shape_of
from services.console.records.usecases.add_records import add_records
from services.console.records.usecases.change_record import change_record
from services.console.records.usecases.delete_records import delete_records
from services.console.records.values import plain_value, show_value
from shared.db import Tx
from shared.errors import Refused

MOST_ROWS = 1000
Row = dict[str, Any]
Key = Annotated[
    str, Query(description='What names the row: a JSON list of its key\'s texts, such as `["ALFKI"]`.', max_length=2000)
]
Rows = Annotated[list[Row], Body(description="Values by column; dates, times and decimals as text; null or absent is no value.", min_length=1, max_length=MOST_ROWS)]  # fmt: skip


class RecordApi:
    def __init__(self, console: Console) -> None:
        self._db = console.db

    async def tables(self, caller: Caller) -> list[Row]:
        caller.require("read")
        async with self._db.reading() as tx:
            apps = await list_apps(tx)
        return [
            {"app": app.slug, "table": table.name, "key": list(shape_of(app, table.name).key), "columns": [each.model_dump(mode="json") for each in table.columns]}
            for app in apps for table in app.declaration.tables
        ]  # fmt: skip

    async def page(self, caller: Caller, slug: str, table: str, given: Mapping[str, list[str]]) -> Row:
        caller.require("read")
        async with self._db.transaction() as tx:
            _, shape = await self._named(tx, slug, table)
            ask = read_ask(shape, [(name, value) for name, values in given.items() for value in values])
            found = await views.page(tx, shape, ask, whole=True)
        return {
            "rows": [_plain(shape, each) for each in found.rows],
            "after": found.on,
            "count": found.count,
            "about": found.about,
        }

    async def row(self, caller: Caller, slug: str, table: str, key: str) -> Row:
        caller.require("read")
        async with self._db.reading() as tx:
            _, shape = await self._named(tx, slug, table)
            return _plain(shape, await store.get(tx, shape, key))

    async def add(self, caller: Caller, slug: str, table: str, rows: Rows) -> Row:
        async with self._db.transaction() as tx:
            app, _ = await self._named(tx, slug, table)
            return {"keys": await add_records(tx, app, table, [_texts(each) for each in rows], caller, "api")}

    async def change(self, caller: Caller, slug: str, table: str, key: str, values: Row, version: int | None) -> Row:
        async with self._db.transaction() as tx:
            app, shape = await self._named(tx, slug, table)
            key = await change_record(tx, app, table, key, _texts(values), caller, "api", version=version)
            return _plain(shape, await store.get(tx, shape, key))

    async def delete(self, caller: Caller, slug: str, table: str, keys: list[str]) -> Row:
        async with self._db.transaction() as tx:
            app, _ = await self._named(tx, slug, table)
            return {"deleted": len(await delete_records(tx, app, table, keys, caller, "api"))}

    async def _named(self, tx: Tx, slug: str, table: str) -> tuple[InstalledApp, Shape]:
        app = await get_app(tx, slug)
        return app, shape_of(app, table)


def _plain(shape: Shape, row: Mapping[Any, Any]) -> Row:
    return {
        "key": shape.key_of(row),
        "version": row["_version"],
        "values": {name: plain_value(row[name]) for name in shape.columns},
    }


def _texts(values: Row) -> dict[str, str | None]:
    """JSON's own values as the texts that a column reads. Refused for fractions: JSON's lose digits."""
    for name, value in values.items():
        if isinstance(value, float):
            raise Refused(f"{name}: send a decimal as text, so that no digit is lost.", code="value")
    return {name: None if value is None else show_value(value) for name, value in values.items()}


def add_routes(app: FastAPI, console: Console, known: Any) -> None:
    """`known`: the caller, found by the request's token."""
    api, place = RecordApi(console), "/v1/records/{slug}/{table}"

    @app.get("/v1/records", summary="The tables of all apps, with their columns")
    async def tables(caller: known) -> list[Row]:
        return await api.tables(caller)

    @app.get(place, summary="Rows of a table, by filter and order, page by page")
    async def rows(
        caller: known,
        slug: str,
        table: str,
        f: Annotated[
            list[str], Query(description="`column:op:value`, such as `country:is:Spain`; all must hold.")
        ] = [],  # noqa: B006
        sort: Annotated[str, Query(description="A column; with a minus downwards.")] = "",
        after: Annotated[str, Query(description="The place to go on from, as the answer before gave it.")] = "",
    ) -> Row:
        return await api.page(caller, slug, table, {"f": f, "sort": [sort], "after": [after]})

    @app.get(f"{place}/row", summary="One row")
    async def row(caller: known, slug: str, table: str, key: Key) -> Row:
        return await api.row(caller, slug, table, key)

    @app.post(place, status_code=201, summary="Add rows, all or none")
    async def add(caller: known, slug: str, table: str, rows: Rows) -> Row:
        return await api.add(caller, slug, table, rows)

    @app.patch(f"{place}/row", summary="Other values for one row")
    async def change(
        caller: known,
        slug: str,
        table: str,
        key: Key,
        values: Annotated[Row, Body(description="Values by column; what is not named stays.")],
        version: Annotated[
            int | None, Query(description="Of the row as it was read; a conflict when somebody was quicker.")
        ] = None,
    ) -> Row:
        return await api.change(caller, slug, table, key, values, version)

    @app.delete(place, summary="Delete rows by their keys")
    async def delete(
        caller: known, slug: str, table: str, key: Annotated[list[str], Query(max_length=MOST_ROWS)]
    ) -> Row:
        return await api.delete(caller, slug, table, key)
