"""Audit of calls, rows that the site refused to show, parked events, health."""

import csv
import io
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.console.audit import views
from services.console.audit.domain import Search, check_day, check_search
from services.console.audit.usecases.record_rejection import acknowledge_rejection
from services.console.desk import PRIVATE, Desk, Visit, go
from services.console.forms import as_uuid, page_number, query
from shared.errors import NotFound, SchleuseError

EXPORT = ("seq", "at", "asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "duration_ms")
MOST_EXPORTED = 100_000


class AuditPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/audit", page(self.show)),
            Route("/audit/export.{form}", page(self.export)),
            Route("/audit/rejected/{event_id}", page(self.acknowledge, "decide"), methods=["POST"]),
            Route("/parked", page(self.parked)),
            Route("/parked/{number:int}", page(self.parked_one)),
            Route("/parked/{number:int}/{action}", page(self.settle, "switch"), methods=["POST"]),
            Route("/health", page(self.health)),
            Route("/keys", page(self.keys)),
        ]

    async def show(self, visit: Visit) -> Response:
        by = read_search(visit.request)
        async with self._console.db.reading() as tx:
            rows, found = await views.list_calls(tx, by), await views.count_calls(tx, by)
            hours, connectors = await views.by_hour(tx), await views.by_connector(tx)
            choices, rejections = await views.choices(tx), await views.unseen_rejections(tx)
        params = {name: value for name, value in visit.request.query_params.items() if name != "page"}
        facts: dict[str, Any] = {
            "rows": rows,
            "found": found,
            "hours": hours,
            "connectors": connectors,
            "choices": choices,
        }
        return await visit.show("audit.html", by=by, rejections=rejections, params=params, size=views.PAGE, **facts)

    async def export(self, visit: Visit) -> Response:
        by, form = read_search(visit.request), visit.request.path_params["form"]
        if form not in ("csv", "json"):
            raise NotFound("The list of calls comes as csv or json.")
        async with self._console.db.reading() as tx:
            rows = await views.list_calls(tx, by, limit=MOST_EXPORTED)
        listed = [{name: row[name] for name in EXPORT} for row in rows]
        if form == "json":
            return Response(json.dumps(listed, default=str), media_type="application/json", headers=PRIVATE)
        return Response(
            _csv(listed),
            media_type="text/csv",
            headers=PRIVATE | {"Content-Disposition": "attachment; filename=audit.csv"},
        )

    async def acknowledge(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await acknowledge_rejection(tx, visit.caller, as_uuid(visit.request.path_params["event_id"]))
        return go("/audit")

    async def parked(self, visit: Visit) -> Response:
        return await visit.show("parked.html", rows=(await self._console.parked.list({}))["parked"])

    async def parked_one(self, visit: Visit) -> Response:
        row = (await self._console.parked.show({"id": visit.request.path_params["number"]}))["parked"]
        return await visit.show("parked_one.html", row=row, failed=None)

    async def settle(self, visit: Visit) -> Response:
        number, action = visit.request.path_params["number"], visit.request.path_params["action"]
        desk = self._console.parked
        act = {"replay": desk.replay, "drop": desk.drop}.get(action)
        if act is None:
            raise NotFound("A parked event is replayed or dropped, nothing else.")
        try:
            await act({"id": number})
        except SchleuseError as error:
            row = (await desk.show({"id": number}))["parked"]
            return await visit.show("parked_one.html", error.status, row=row, failed=error)
        return go("/parked")

    async def health(self, visit: Visit) -> Response:
        return await visit.show("health.html", report=self._console.health.report())

    async def keys(self, visit: Visit) -> Response:
        return await visit.show("keys.html")


def read_search(request: Request) -> Search:
    return Search(
        q=check_search(request.query_params.get("q", "")),
        connector=query(request, "connector"),
        asker=query(request, "asker"),
        result=query(request, "result", 10),
        start=check_day(query(request, "from", 20)),
        end=check_day(query(request, "to", 20)),
        page=page_number(request),
    )


def _csv(rows: list[dict[str, Any]]) -> str:
    """A cell that a spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(EXPORT)
    for row in rows:
        writer.writerow(
            [
                f"'{value}" if str(value)[:1] in "=+-@\t\r" and isinstance(value, str) else value
                for value in row.values()
            ]
        )
    return out.getvalue()
