"""What visitors filled into forms, and which app's records it becomes."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from schemas.content import ItemContent
from schemas.text import text_fault
from services.console.answers import store
from services.console.answers.domain import ANSWERED_AT
from services.console.answers.usecases.map_form import map_form, unmap_form
from services.console.apps.views import find_app, get_app, list_apps
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid, query
from services.console.queue import views as queue
from services.console.records.domain import Shape, shape_of
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused

CHOSEN = "map."
"""What the names of fields with a column begin with."""


class AnswerPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page, one = self._desk.page, "/answers/{item_id}/{form}"
        return [
            Route("/answers", page(self.all)),
            Route(one, page(self.one)),
            Route(one, page(self.map, "decide"), methods=["POST"]),
            Route(f"{one}/unmap", page(self.unmap, "decide"), methods=["POST"]),
        ]

    async def all(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            forms = [dict(each) for each in await store.forms(tx)]
            for each in forms:
                item = await queue.item(tx, each["item_id"])
                each["title"] = item["title"] if item is not None else str(each["item_id"])
        return await visit.show("answers.html", forms=forms)

    async def one(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def _show(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        item_id, form = _named(visit)
        async with self._console.db.reading() as tx:
            item = await queue.item(tx, item_id)
            answers = await store.of_form(tx, item_id, form)
            mapping = await store.mapping(tx, item_id, form)
            fields = await _fields(tx, item, form, answers)
            if item is None or (not fields and not answers):
                raise NotFound("There is no such form.")
            tables = [f"{app.slug}.{table.name}" for app in await list_apps(tx) for table in app.declaration.tables]
            mapped = f"{mapping['app']}.{mapping['table_name']}" if mapping else ""
            shape = await _shape(tx, query(visit.request, "to", 110) or mapped)
        told = {
            "item": item,
            "form": form,
            "answers": answers,
            "mapping": mapping,
            "fields": fields,
            "tables": tables,
            "shape": shape,
        }
        chosen = (
            mapping["fields"] if mapping and shape and mapped == f"{shape.app}.{shape.name}" else _alike(fields, shape)
        )
        return await visit.show(
            "answers_one.html",
            status,
            answered_at=ANSWERED_AT,
            **(told | {"chosen": chosen, "refused": None} | context),
        )

    async def map(self, visit: Visit) -> Response:
        item_id, form = _named(visit)
        slug, _, table = visit.form.text("to").partition(".")
        chosen = {name.removeprefix(CHOSEN): value for name, value in visit.form.fields if name.startswith(CHOSEN)}
        try:
            async with self._console.db.transaction() as tx:
                await map_form(tx, visit.caller, item_id, form, await get_app(tx, slug), table, chosen)
        except (Refused, Conflict) as refused:
            async with self._console.db.reading() as tx:
                shape = await _shape(tx, f"{slug}.{table}")
            return await self._show(visit, refused.status, refused=refused, chosen=chosen, shape=shape)
        return go(visit.request.url.path)

    async def unmap(self, visit: Visit) -> Response:
        item_id, form = _named(visit)
        async with self._console.db.transaction() as tx:
            await unmap_form(tx, visit.caller, item_id, form)
        return go(visit.request.url.path.removesuffix("/unmap"))


def _named(visit: Visit) -> tuple[UUID, str]:
    form = str(visit.request.path_params["form"])[:500]
    if text_fault(form):
        raise NotFound("There is no such form.")
    return as_uuid(visit.request.path_params["item_id"]), form


async def _fields(tx: Tx, item: Any, form: str, answers: Any) -> dict[str, str]:
    """Labels by field, as the newest revision declares them; else what was answered."""
    revision = None if item is None else await queue.revision(tx, item["item_id"], item["revision"])
    declared = None if revision is None else ItemContent.from_bytes(revision["content"]).form
    if declared is not None and declared.name == form:
        return {each.name: each.label for each in declared.fields}
    return {name: name for each in answers for name in each["answers"]}


async def _shape(tx: Tx, named: str) -> Shape | None:
    slug, _, table = named.partition(".")
    app = await find_app(tx, slug) if table else None
    return shape_of(app, table) if app is not None and app.table(table) else None


def _alike(fields: dict[str, str], shape: Shape | None) -> dict[str, str]:
    return {} if shape is None else {name: name for name in fields if name in shape.columns}
