"""The pages System and Grants, for owners and admins; what they show the supervisor found out."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.console.desk import PRIVATE, Desk, Visit, go
from services.console.forms import page_number, query
from services.console.system.cells import COLUMNS, cells
from services.console.system.domain import (
    PAGE,
    STALE_FIGURES,
    STALE_INVENTORY,
    STATES,
    Filter,
    choices,
    counted,
    search,
)
from services.console.system.reports import Reports
from shared.errors import Refused


class SystemPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console
        self._reports = Reports(desk.console.settings.state / "run")

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/system", page(self.show, "system")),
            Route("/system/figures.json", page(self.news, "system")),
            Route("/system/grants", page(self.grants, "system")),
            Route("/system/grants", page(self.ask, "system"), methods=["POST"]),
        ]

    async def show(self, visit: Visit) -> Response:
        report = self._reports.figures()
        facts: dict[str, Any] = {"report": report, "cells": cells(report), "columns": COLUMNS}
        stale = report.content is not None and report.is_stale(STALE_FIGURES)
        inventory = self._reports.inventory().content
        differences = inventory["differences"] if inventory else None
        return await visit.show("system.html", **facts, stale=stale, differences=differences)

    async def news(self, visit: Visit) -> Response:
        """The page's figures as they are now; `problems` and the names of `parts` beside them."""
        report, say = self._reports.figures(), visit.words.say
        content = report.content or {"problems": [], "parts": {}}
        shown = {name: cell.to_json() for name, cell in cells(report).items()}
        found = {
            "cells": {
                name: cell | {"text": say(cell["text"])} if "text" in cell else cell for name, cell in shown.items()
            },
            "problems": [each | {"text": say(each["text"])} for each in content["problems"]],
            "parts": list(content["parts"]),
            "stale": report.is_stale(STALE_FIGURES),
        }
        return JSONResponse(found, headers=PRIVATE)

    async def grants(self, visit: Visit) -> Response:
        report, by = self._reports.inventory(), _read_filter(visit)
        lines = report.content["lines"] if report.content else []
        asked = self._reports.asked_at()
        waiting = report.taken_at is not None and asked > report.taken_at.timestamp()
        params = {name: value for name, value in visit.request.query_params.items() if name != "page"}
        facts: dict[str, Any] = {"report": report, "by": by, "found": search(lines, by), "params": params}
        facts |= {"surfaces": choices(lines, "surface"), "areas": choices(lines, "area"), "counts": counted(lines)}
        stale = report.content is not None and report.is_stale(STALE_INVENTORY)
        asked_at = datetime.fromtimestamp(asked, UTC) if waiting else None
        return await visit.show("grants.html", **facts, size=PAGE, stale=stale, asked_at=asked_at)

    async def ask(self, _: Visit) -> Response:
        self._reports.ask_for_inventory()
        return go("/system/grants")


def _read_filter(visit: Visit) -> Filter:
    request = visit.request
    state = query(request, "state", 20)
    if state not in ("", "differences", *STATES):
        raise Refused(f"A line is one of {', '.join(STATES)}; differences is everything but the first.", code="query")
    return Filter(query(request, "q", 200), query(request, "area", 20), query(request, "surface", 20), state, page_number(request))  # fmt: skip
