"""A table of an app as a grid: filtered, sorted, page by page; rows added, changed, deleted; cells changed in place."""

from typing import Any
from urllib.parse import quote

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from services.console.apps.domain import InstalledApp
from services.console.apps.views import get_app
from services.console.desk import PRIVATE, Desk, Visit, go
from services.console.forms import query
from services.console.records import store, views
from services.console.records.addresses import read_ask, said, write_ask
from services.console.records.domain import NUMBER, OPS, Shape, read_filter, shape_of
from services.console.records.exporting import FORMATS, as_csv, as_json
from services.console.records.usecases.add_records import add_records
from services.console.records.usecases.change_record import change_record
from services.console.records.usecases.delete_records import delete_records
from services.console.records.usecases.share_row import share_row
from services.console.records.usecases.undo_change import undo_change
from services.console.records.values import show_value
from shared.errors import Conflict, NotFound, Refused, SchleuseError

CHANGED = "to."
"""What the names of fields with a column's new value begin with."""


class RecordPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page, place = self._desk.page, "/records/{slug}/{table}"
        return [
            Route("/applications/{slug}/{table}", page(self.grid)),
            Route(f"{place}/row", page(self.row)),
            Route(f"{place}/row", page(self.save, "submit"), methods=["POST"]),
            Route(f"{place}/new", page(self.new, "submit")),
            Route(f"{place}/new", page(self.add, "submit"), methods=["POST"]),
            Route(f"{place}/cell", page(self.cell, "submit"), methods=["POST"]),
            Route(f"{place}/delete", page(self.delete, "submit"), methods=["POST"]),
            Route(f"{place}/history", page(self.history)),
            Route(f"{place}/undo", page(self.undo, "submit"), methods=["POST"]),
            Route(f"{place}/export", page(self.export)),
            Route(f"{place}/share", page(self.share, "share"), methods=["POST"]),
        ]

    async def grid(self, visit: Visit) -> Response:
        _, shape = await self._named(visit)
        given = visit.request.query_params.multi_items()
        try:
            ask = read_ask(shape, given)
            if any(name in {"fc", "c"} for name, _ in given):
                return go(visit.request.url.path + write_ask(shape, ask))
            refused = None
        except Refused as error:
            ask, refused = read_ask(shape, ()), error
        async with self._console.db.transaction() as tx:
            found = await views.page(tx, shape, ask)
        told = {"shape": shape, "ask": ask, "found": found, "filters": said(shape, ask), "ops": OPS, "refused": refused}
        links = {
            "link": lambda **other: visit.request.url.path + write_ask(shape, ask, **other),
            "asked": write_ask(shape, ask),
            "text": show_value,
            "cut": views.CUT,
        }
        return await visit.show("records.html", refused.status if refused else 200, **told, **links)

    async def row(self, visit: Visit) -> Response:
        return await self._show_row(visit, query(visit.request, "key", 2000))

    async def _show_row(self, visit: Visit, key: str, status: int = 200, **context: Any) -> Response:
        _, shape = await self._named(visit)
        async with self._console.db.reading() as tx:
            held = await store.get(tx, shape, key)
            entries = await views.history(tx, shape, key, 20)
        texts = {name: show_value(held[name]) for name in shape.columns}
        told = {
            "shape": shape,
            "key": key,
            "held": held,
            "texts": texts,
            "now": texts,
            "entries": entries,
            "refused": None,
        }
        return await visit.show(
            "record.html", status, label=shape.label_of(held), number=NUMBER.name, **(told | context)
        )

    async def save(self, visit: Visit) -> Response:
        app, shape = await self._named(visit)
        key, typed = visit.form.text("key"), _typed(visit, shape)
        try:
            async with self._console.db.transaction() as tx:
                version = visit.form.whole("version")
                key = await change_record(tx, app, shape.name, key, typed, visit.caller, "page", version=version)
        except (Refused, Conflict) as refused:
            return await self._show_row(visit, key, refused.status, refused=refused, texts=typed)
        return go(_row_place(shape, key))

    async def new(self, visit: Visit) -> Response:
        _, shape = await self._named(visit)
        return await visit.show("record_new.html", shape=shape, texts={}, refused=None, number=NUMBER.name)

    async def add(self, visit: Visit) -> Response:
        app, shape = await self._named(visit)
        typed = _typed(visit, shape)
        try:
            async with self._console.db.transaction() as tx:
                [key] = await add_records(tx, app, shape.name, [typed], visit.caller, "page")
        except (Refused, Conflict) as refused:
            return await visit.show(
                "record_new.html", refused.status, shape=shape, texts=typed, refused=refused, number=NUMBER.name
            )
        return go(_row_place(shape, key))

    async def cell(self, visit: Visit) -> Response:
        """One cell, changed in place: JSON {"text", "key"}, or {"error", "now": what is there, when somebody was quicker}."""
        app, shape = await self._named(visit)
        key, column, was, value = (visit.form.text(name) for name in ("key", "column", "was", "value"))
        try:
            async with self._console.db.transaction() as tx:
                key = await change_record(
                    tx, app, shape.name, key, {column: value}, visit.caller, "page", {column: was}
                )
                held = await store.get(tx, shape, key)
        except SchleuseError as error:
            told = {"error": visit.words.say(error.message), "now": await self._now(shape, key, column, error)}
            return JSONResponse(told, error.status, headers=PRIVATE)
        return JSONResponse({"text": show_value(held[column]), "key": key}, headers=PRIVATE)

    async def _now(self, shape: Shape, key: str, column: str, error: SchleuseError) -> str | None:
        if not isinstance(error, Conflict) or column not in shape.columns:
            return None
        async with self._console.db.reading() as tx:
            return show_value((await store.get(tx, shape, key))[column])

    async def delete(self, visit: Visit) -> Response:
        app, shape = await self._named(visit)
        keys = visit.form.every("key")
        try:
            async with self._console.db.transaction() as tx:
                await delete_records(tx, app, shape.name, keys, visit.caller, "page")
        except (Refused, Conflict) as refused:
            return await self._show_row(visit, keys[0], refused.status, refused=refused)
        return go(f"/records/{shape.app}/{shape.name}/history")

    async def history(self, visit: Visit) -> Response:
        return await self._show_history(visit)

    async def _show_history(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        _, shape = await self._named(visit)
        async with self._console.db.reading() as tx:
            entries = await views.history(tx, shape)
        return await visit.show(
            "record_history.html", status, **({"shape": shape, "entries": entries, "refused": None} | context)
        )

    async def undo(self, visit: Visit) -> Response:
        app, shape = await self._named(visit)
        try:
            async with self._console.db.transaction() as tx:
                key = await undo_change(tx, app, shape.name, visit.form.whole("position") or 0, visit.caller)
                there = await store.row(tx, shape, shape.key_values(key))
        except (Refused, Conflict, NotFound) as refused:
            return await self._show_history(visit, refused.status, refused=refused)
        return go(_row_place(shape, key) if there else f"/records/{shape.app}/{shape.name}/history")

    async def share(self, visit: Visit) -> Response:
        """The agent may read this row, as it is now."""
        app, shape = await self._named(visit)
        async with self._console.db.transaction() as tx:
            await share_row(tx, visit.caller, app, shape.name, visit.form.text("key"))
        return go("/sharing")

    async def export(self, visit: Visit) -> Response:
        _, shape = await self._named(visit)
        how = query(visit.request, "format", 10) or "csv"
        if how not in FORMATS:
            raise Refused(f"A table is exported as {' or '.join(FORMATS)}.", code="format")
        filters = [read_filter(shape, each) for each in visit.request.query_params.getlist("f")]
        body = (as_csv if how == "csv" else as_json)(self._console.db, shape, filters)
        name = {"Content-Disposition": f'attachment; filename="{shape.app}-{shape.name}.{how}"'}
        return StreamingResponse(body, media_type=FORMATS[how], headers=PRIVATE | name)

    async def _named(self, visit: Visit) -> tuple[InstalledApp, Shape]:
        """NotFound when there is no such table."""
        slug, table = visit.request.path_params["slug"], visit.request.path_params["table"]
        async with self._console.db.reading() as tx:
            app = await get_app(tx, slug)
        return app, shape_of(app, table)


def _typed(visit: Visit, shape: Shape) -> dict[str, str | None]:
    """Texts by column; browsers end lines with two characters, of which one is kept."""
    given = {name.removeprefix(CHANGED): value for name, value in visit.form.fields if name.startswith(CHANGED)}
    return {name: value.replace("\r\n", "\n") for name, value in given.items() if name in shape.columns}


def _row_place(shape: Shape, key: str) -> str:
    return f"/records/{shape.app}/{shape.name}/row?key={quote(key, safe='')}"
