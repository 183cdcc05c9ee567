"""Deciding on several items: first what would become public, then the word for all of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy.engine import RowMapping
from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import Form, as_uuid, whole
from services.console.queue import views
from services.console.queue.deciding import Deciding
from services.console.queue.domain import Order, is_on_its_way
from services.console.queue.jobs import Jobs, wait
from services.console.queue.mass_pages import MassPages
from services.console.queue.one_word import PATIENCE, said, show_job, times_of, word_of
from services.console.queue.pages import read_filter
from shared.clock import now
from shared.errors import NotFound, Refused

MOST = 1000
"""Items that can be ticked one by one."""
TICKED = 120
"""So many of all that wait are shown with a box each; more of them have a page that tells them in figures."""


class TogetherPages:
    """Bulk decisions. Items with findings take part only when ticked one by one; stopped ones are never approved."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        self._desk, self._console, self._jobs = desk, desk.console, jobs
        self._deciding = Deciding(desk.console)

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/together", page(self.ask, "decide")),
            Route("/queue/together", page(self.decide, "decide"), methods=["POST"]),
            Route("/queue/together/{job}", page(self.progress, "decide")),
            *MassPages(self._desk, self._jobs).routes(),
        ]

    async def ask(self, visit: Visit) -> Response:
        """`?item=…` several times, or `?all=yes` with a filter: what waits and fits."""
        asked = visit.request.query_params
        async with self._console.db.reading() as tx:
            if asked.get("all"):
                by = replace(read_filter(visit.request), state="submitted", page=1)
                found = await views.count_items(tx, by)
                rows = await views.list_items(tx, by, limit=TICKED) if found <= TICKED else []
            else:
                rows = await views.items_by_id(tx, [as_uuid(each) for each in _few(asked.getlist("item"))])
                found = len(rows)
        if found > len(rows) and asked.get("all"):
            return go(f"/queue/all?{visit.request.url.query}")
        return await self._dialog(visit, rows)

    async def decide(self, visit: Visit) -> Response:
        """Several words on one form: `look` shows the same items with other times, everything else decides."""
        form, orders = visit.form, [_order(each) for each in _few(visit.form.every("item"))]
        try:
            if form.text("verdict") == "look":
                times = times_of(form)
                return await self._dialog(visit, await self._rows(form), times=times, ticked=_ids(orders))
            made = word_of(form)
        except Refused as refused:
            rows = await self._rows(form)
            return await self._dialog(visit, rows, refused.status, refused=refused, ticked=_ids(orders))
        made_of = [(replace(order, **made), title) for order, title in orders]
        work = partial(self._deciding.run, visit.caller, made["batch"], made_of)
        job = self._jobs.start(visit.caller, said(made), len(orders), work, **made)
        if not await wait(job, PATIENCE):
            return go(f"/queue/together/{job.id}")
        return await show_job(visit, job)

    async def progress(self, visit: Visit) -> Response:
        job = self._jobs.find(as_uuid(visit.request.path_params["job"]), visit.caller)
        if job is None:
            raise NotFound("Nothing is known of this any more. What was decided is in the queue.")
        return await show_job(visit, job)

    async def _rows(self, form: Form) -> Sequence[RowMapping]:
        async with self._console.db.reading() as tx:
            return await views.items_by_id(tx, [as_uuid(each) for each in _few(form.every("shown"))])

    async def _dialog(self, visit: Visit, rows: Sequence[RowMapping], status: int = 200, **context: Any) -> Response:
        ready = [row for row in rows if _waits(row) and not row["checks"] and not row["blocks"]]
        ask = [row for row in rows if _waits(row) and (row["checks"] or row["blocks"])]
        left = [row for row in rows if not _waits(row)]
        form = visit.form
        typed = {name: form.text(name) for name in ("reason", "at", "until")}
        facts = {"soonest": f"{now():%Y-%m-%dT%H:%M}", "site": self._console.site_url}
        asked = {"refused": None, "times": None, "ticked": None} | context
        return await visit.show("together.html", status, ready=ready, ask=ask, left=left, typed=typed, **facts, **asked)


def _waits(row: RowMapping) -> bool:
    return row["state"] == "submitted" and not is_on_its_way(row, now())


def _few(listed: Sequence[str]) -> Sequence[str]:
    """Refused above MOST: leaving some out without a word would look like a decision on them."""
    if len(listed) > MOST:
        raise Refused(f"{len(listed)} items are selected; at most {MOST:,} can be decided together. Select fewer.")
    return listed


def _order(told: str) -> tuple[Order, str]:
    """`id:revision:version:hash:title` as the page asked it: what was shown is what is decided on."""
    parts = told.split(":", 4)
    revision, version = (whole(each) for each in parts[1:3]) if len(parts) == 5 else (None, None)
    if revision is None or version is None:
        raise Refused("The list does not say which revisions were shown; select the items again.", code="order")
    return Order(as_uuid(parts[0]), "approve", "", revision, parts[3], version), parts[4]


def _ids(orders: Sequence[tuple[Order, str]]) -> set[UUID]:
    return {order.item_id for order, _ in orders}
