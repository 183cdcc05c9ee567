"""Mappings: from records of an app to a page that waits in the queue."""

import asyncio
from typing import Any
from uuid import UUID

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from schemas.content import ItemContent
from services.console.apps.views import find_app, list_apps
from services.console.desk import Desk, Visit, go
from services.console.forms import Form, as_uuid, query
from services.console.mappings import store
from services.console.mappings.domain import Report, pickable
from services.console.mappings.reading import TEXTS, read_report
from services.console.mappings.usecases.make_drafts import Made, find_mapping, make_drafts
from services.console.mappings.usecases.remove_mapping import remove_mapping
from services.console.mappings.usecases.save_mapping import save_mapping
from services.console.mappings.usecases.submit_mapping import submit_mapping
from services.console.queue.preview import HEADERS
from services.console.queue.usecases.submit_item import read_draft
from services.console.queue.usecases.wait_for import wait_for_queue
from services.console.records.domain import OPS, Shape, shape_of
from services.console.rendering import Templates
from shared.db import Tx
from shared.errors import NotFound, Refused, SchleuseError
from shared.ids import fresh_id
from shared.markup import render, resolve

PATIENCE = 2.0
EMPTY = {
    "name": "",
    "sort": "",
    "down": False,
    "kind": "report",
    "lang": "en",
    "audience": "public",
    "template": "# Title\n\n{{count}} rows.\n\n{{table}}\n",
}


class MappingPages:
    def __init__(self, desk: Desk, templates: Templates) -> None:
        self._desk, self._console, self._templates = desk, desk.console, templates

    def routes(self) -> list[Route]:
        page, one = self._desk.page, "/mappings/{mapping_id}"
        return [
            Route("/mappings", page(self.every)),
            Route("/mappings", page(self.save, "submit"), methods=["POST"]),
            Route("/mappings/new", page(self.new, "submit")),
            Route(one, page(self.one)),
            Route(f"{one}/preview", page(self.preview)),
            Route(f"{one}/submit", page(self.submit, "submit"), methods=["POST"]),
            Route(f"{one}/remove", page(self.remove, "submit"), methods=["POST"]),
        ]

    async def every(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            rows = await store.every(tx)
            tables = await _tables(tx)
        return await visit.show("mappings.html", rows=rows, tables=tables)

    async def new(self, visit: Visit) -> Response:
        slug, _, table = query(visit.request, "to", 110).partition(".")
        given = {
            **EMPTY,
            "app": slug,
            "table": table,
            "path": f"{slug}/{table}".replace("_", "-"),
            "mapping_id": str(fresh_id()),
        }
        return await self._form(visit, given | {"columns": None, "filters": ()})

    async def one(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            report = await find_mapping(tx, _named(visit))
            made, fault = await _made(tx, visit, report)
            uses = await store.uses(tx, report.mapping_id)
        return await self._form(visit, _given(report), made=made, fault=fault, uses=uses, saved=True)

    async def save(self, visit: Visit) -> Response:
        given = _posted(visit.form)
        mapping_id = as_uuid(visit.form.text("mapping_id"))
        try:
            report = read_report(mapping_id, given)
            async with self._console.db.transaction() as tx:
                await save_mapping(tx, visit.caller, report)
        except Refused as refused:
            return await self._form(visit, given | {"mapping_id": str(mapping_id)}, refused.status, refused=refused)
        return go(f"/mappings/{mapping_id}")

    async def preview(self, visit: Visit) -> Response:
        """In a sandbox (S13), as the site would show it."""
        async with self._console.db.transaction() as tx:
            report = await find_mapping(tx, _named(visit))
            made = (await make_drafts(tx, visit.caller, report))[0]
        draft = read_draft(report.kind, report.lang, made.path, made.markdown, report.audience)
        content = ItemContent.from_bytes(draft.content)
        shown = await asyncio.to_thread(render, content.body, report.lang, made.path, shown_title=content.title)
        page = {"lang": report.lang, "title": content.title, "body": resolve(shown.html, lambda _: None)}
        return HTMLResponse(self._templates.render("preview.html", page), headers=HEADERS)

    async def submit(self, visit: Visit) -> Response:
        mapping_id = _named(visit)
        try:
            async with self._console.db.transaction() as tx:
                sent = await submit_mapping(tx, visit.caller, mapping_id)
        except Refused as refused:
            async with self._console.db.reading() as tx:
                report = await find_mapping(tx, mapping_id)
            return await self._form(visit, _given(report), refused.status, refused=refused, saved=True)
        await wait_for_queue(self._console.db, self._console.live, [each.submission_id for each in sent], PATIENCE)
        return go(f"/queue/{sent[0].item_id}" if len(sent) == 1 else "/queue")

    async def remove(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await remove_mapping(tx, visit.caller, _named(visit))
        return go("/mappings")

    async def _form(self, visit: Visit, given: dict[str, Any], status: int = 200, **told: Any) -> Response:
        async with self._console.db.reading() as tx:
            shape = await _shape(tx, str(given["app"]), str(given["table"]))
        if given.get("columns") is None:
            given["columns"] = pickable(shape)[:8]
        told = {"made": None, "fault": None, "uses": (), "saved": False, "refused": None} | told
        hidden = len(shape.table.columns) - len(pickable(shape))
        return await visit.show(
            "mapping.html", status, given=given, shape=shape, pickable=pickable(shape), internal=hidden, ops=OPS, **told
        )


async def _tables(tx: Tx) -> list[tuple[str, int]]:
    """`app.table`, and how many columns a page may show."""
    apps = await list_apps(tx)
    return [
        (f"{app.slug}.{table.name}", len(pickable(shape_of(app, table.name))))
        for app in apps
        for table in app.declaration.tables
    ]


async def _shape(tx: Tx, slug: str, table: str) -> Shape:
    app = await find_app(tx, slug)
    if app is None:
        raise NotFound("There is no such app.")
    return shape_of(app, table)


async def _made(tx: Tx, visit: Visit, report: Report) -> tuple[list[Made] | None, SchleuseError | None]:
    """What it makes now, or why it makes nothing: a column may have become internal."""
    try:
        return await make_drafts(tx, visit.caller, report), None
    except Refused as fault:
        return None, fault


def _posted(form: Form) -> dict[str, Any]:
    texts = {name: form.text(name) for name in TEXTS}
    filters = [line.strip() for line in form.text("filters").splitlines() if line.strip()]
    return {**texts, "columns": form.every("column"), "filters": filters, "down": form.text("down")}


def _given(report: Report) -> dict[str, Any]:
    return {**vars(report), "mapping_id": str(report.mapping_id)}


def _named(visit: Visit) -> UUID:
    return as_uuid(visit.request.path_params["mapping_id"])
