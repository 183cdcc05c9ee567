"""Calls to third parties: the chain's state, what was called, and what of it fits a search."""

import asyncio
import csv
import io
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from services.console.audit import store, views
from services.console.audit.chain import views as chain_views
from services.console.audit.domain import Search, check_day, check_search
from services.console.desk import PRIVATE, Desk, Visit, go
from services.console.forms import page_number, query
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused

EXPORT = (
    "seq", "at", "call_id", "asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "secret", "detail",
    "duration_ms", "bytes_out", "bytes_in", "tokens_in", "tokens_out", "trace_id", "hash",
)  # fmt: skip
MOST_EXPORTED = 100_000
PIECE = 2000
COUNTS_STAY = 3.0
"""Seconds that the chart's figures and the lists of choices stay: a page that follows asks twice a second."""
PATIENCE = 10.0
"""Seconds that a search may take."""
RESULTS = {
    "bad": "Refused or failed", "ok": "ok", "failed": "failed", "refused": "refused", "cancelled": "cancelled", "lost": "lost",
    "begun": "begun", "noted": "noted",
}  # fmt: skip


class CallPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console
        self._counts: dict[str, Any] = {}
        self._counted_at = -COUNTS_STAY

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/audit", page(self.show)),
            Route("/audit/verify", page(self.verify, "decide"), methods=["POST"]),
            Route("/audit/export.{form}", page(self.export)),
        ]

    async def show(self, visit: Visit) -> Response:
        by = read_search(visit.request)
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE), self._console.db.reading() as tx:
                rows, found = await views.list_calls(tx, by), await views.count_calls(tx, by)
                spent = time.monotonic() - began
                facts = await self._facts(tx, [row["seq"] for row in rows])
        except TimeoutError:
            raise _slow() from None
        params = {name: value for name, value in visit.request.query_params.items() if name not in ("page", "follow")}
        counted: dict[str, Any] = {
            "found": min(found, views.MOST_COUNTED),
            "more": found > views.MOST_COUNTED,
            "spent": spent,
            "spent_at": now(),
            "today": now().date(),
        }
        follow = visit.request.query_params.get("follow") == "yes" and by.page == 1
        shown: dict[str, Any] = {
            "rows": rows,
            "by": by,
            "unfollowed": params,
            "size": views.PAGE,
            "follow": follow,
            "results": RESULTS,
        }
        return await visit.show("audit.html", **shown, **counted, **facts)

    async def _facts(self, tx: Tx, numbers: list[int]) -> dict[str, Any]:
        between = (min(numbers) + 1, max(numbers) + 1) if numbers else (1, 0)
        checkpoints = await chain_views.checkpoints_between(tx, *between, views.PAGE)
        return {
            **await self._count(tx),
            "rejections": await views.unseen_rejections(tx),
            "chain": await chain_views.chain(tx),
            "checkpoint": await chain_views.newest_checkpoint(tx),
            "checkpoints": {row["size"] - 1: row for row in checkpoints},
        }

    async def _count(self, tx: Tx) -> dict[str, Any]:
        """Of the last day; the same for everybody who looks within some seconds."""
        if time.monotonic() - self._counted_at >= COUNTS_STAY:
            counted = {"hours": await views.by_hour(tx, now()), "connectors": await views.by_connector(tx, now())}
            self._counts = counted | {"choices": await views.choices(tx)}
            self._counted_at = time.monotonic()
        return self._counts

    async def verify(self, visit: Visit) -> Response:
        """Recompute from the beginning; the page shows how far that is."""
        async with self._console.db.transaction() as tx:
            await store.check_afresh(tx)
        self._console.wake_chain()
        return go("/audit")

    async def export(self, visit: Visit) -> Response:
        """What fits the search, newest first, at most 100,000; as it comes from the database."""
        by, form = replace(read_search(visit.request), page=1), visit.request.path_params["form"]
        if form not in ("csv", "json"):
            raise NotFound("The list of calls comes as csv or json.")
        kind, write = ("text/csv", _csv) if form == "csv" else ("application/json", _json)
        named = {"Content-Disposition": f"attachment; filename=audit.{form}"}
        return StreamingResponse(self._written(by, write), media_type=kind, headers=PRIVATE | named)

    async def _written(self, by: Search, write: Any) -> AsyncIterator[bytes]:
        first = True
        async for rows in self._pieces(by):
            yield write(rows, first=first)
            first = False
        yield b"]\n" if write is _json else b""

    async def _pieces(self, by: Search) -> AsyncIterator[list[dict[str, Any]]]:
        """At least one, so that an export of nothing has its head."""
        below: int | None = None
        for _ in range(MOST_EXPORTED // PIECE):
            async with self._console.db.reading() as tx:
                rows = await views.list_calls(tx, by, limit=PIECE, below=below)
            yield [{name: _said(row[name]) for name in EXPORT} for row in rows]
            if len(rows) < PIECE:
                return
            below = rows[-1]["seq"]


def _slow() -> Refused:
    return Refused(
        f"This search takes longer than {PATIENCE:g} s. Narrow it by time, connector, asker or target.",
        code="search_slow",
    )


def read_search(request: Request) -> Search:
    result = query(request, "result", 10)
    if result and result not in RESULTS:
        raise Refused(f"There is no result {result!r}; there are {', '.join(RESULTS)}.", code="search")
    return Search(
        q=check_search(request.query_params.get("q", "")),
        connector=query(request, "connector"),
        asker=query(request, "asker"),
        owner=check_search(request.query_params.get("owner", "")),
        target=check_search(request.query_params.get("target", "")),
        status=check_search(request.query_params.get("status", "")),
        result=result,
        start=check_day(query(request, "from", 20)),
        end=check_day(query(request, "to", 20)),
        page=page_number(request),
    )


def _said(value: Any) -> Any:
    return (
        value
        if value is None or isinstance(value, int | str)
        else value.isoformat()
        if hasattr(value, "isoformat")
        else str(value)
    )


def _json(rows: list[dict[str, Any]], *, first: bool) -> bytes:
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return ("[" if first else ",\n" if text else "").encode() + text.encode()


def _csv(rows: list[Mapping[str, Any]], *, first: bool) -> bytes:
    """A cell that a spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    if first:
        writer.writerow(EXPORT)
    writer.writerows([_harmless(value) for value in row.values()] for row in rows)
    return out.getvalue().encode()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
