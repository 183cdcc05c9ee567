"""Rows that the site refused to show, parked events, health."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.audit.usecases.record_rejection import acknowledge_rejection
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.system.cells import glance
from services.console.system.reports import Reports
from shared.errors import NotFound, SchleuseError


class AuditPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/audit/rejected/{event_id}", page(self.acknowledge, "decide"), methods=["POST"]),
            Route("/parked", page(self.parked)),
            Route("/parked/{number:int}", page(self.parked_one)),
            Route("/parked/{number:int}/{action}", page(self.settle, "switch"), methods=["POST"]),
            Route("/health", page(self.health)),
            Route("/keys", page(self.keys)),
        ]

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
        system = Reports(self._console.settings.state / "run").figures()
        return await visit.show(
            "health.html", report=self._console.health.report(), system=system, parts=glance(system)
        )

    async def keys(self, visit: Visit) -> Response:
        return await visit.show("keys.html")
