"""Deciding on several items: first what would become public, then the word for all of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy.engine import RowMapping
from starlette.responses import Response
from starlette.routing import Route

from schemas.model import Verdict
from services.console.desk import Desk, Visit, go
from services.console.forms import Form, as_uuid, whole
from services.console.people.domain import Caller
from services.console.queue import views
from services.console.queue.domain import Order, check_reason, is_on_its_way
from services.console.queue.jobs import Job, Jobs, Outcome, wait
from services.console.queue.pages import read_filter, verdict_of
from services.console.queue.times import check_times, read_time
from services.console.queue.usecases.decide_item import Decided, decide_item
from services.console.queue.usecases.wait_for import wait_for_verdicts
from services.console.undo.domain import WORDS
from services.console.undo.showing import offers
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from shared.ids import new_id

MOST = 1000
"""Items that are decided with one word: measured, a thousand take a few seconds."""
AT_ONCE = 100
"""Decisions in one transaction: enough to be quick, few enough not to hold many rows long."""
PATIENCE = 10.0
"""Seconds in which most of it is done; after that a page shows how far it is."""
ANSWERS = 60.0
"""Seconds to wait for the lock's answers; what is still on its way then is shown so."""


class TogetherPages:
    """Bulk decisions. Items with findings take part only when ticked one by one; stopped ones are never approved."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        self._desk, self._console, self._jobs = desk, desk.console, jobs

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/together", page(self.ask, "decide")),
            Route("/queue/together", page(self.decide, "decide"), methods=["POST"]),
            Route("/queue/together/{job}", page(self.progress, "decide")),
        ]

    async def ask(self, visit: Visit) -> Response:
        """`?item=…` several times, or `?all=yes` with a filter: what waits and fits, the oldest thousand."""
        asked = visit.request.query_params
        async with self._console.db.reading() as tx:
            if asked.get("all"):
                by = replace(read_filter(visit.request), state="submitted", page=1)
                found, rows = await views.count_items(tx, by), await views.list_items(tx, by, limit=MOST)
            else:
                rows = await views.items_by_id(tx, [as_uuid(each) for each in _few(asked.getlist("item"))])
                found = len(rows)
        return await self._dialog(visit, rows, more=found - len(rows))

    async def decide(self, visit: Visit) -> Response:
        """Several words on one form: `look` shows the same items with other times, everything else decides."""
        form, orders = visit.form, [_order(each) for each in _few(visit.form.every("item"))]
        try:
            if form.text("verdict") == "look":
                times = _times(form)
                return await self._dialog(visit, await self._rows(form), times=times, ticked=_ids(orders))
            made = _word(form)
        except Refused as refused:
            rows = await self._rows(form)
            return await self._dialog(visit, rows, refused.status, refused=refused, ticked=_ids(orders))
        made_of = [(replace(order, **made), title) for order, title in orders]
        work = partial(self._decide, visit.caller, made_of)
        job = self._jobs.start(visit.caller, _said(made), len(orders), work, **made)
        if not await wait(job, PATIENCE):
            return go(f"/queue/together/{job.id}")
        return await self._show(visit, job)

    async def progress(self, visit: Visit) -> Response:
        job = self._jobs.find(as_uuid(visit.request.path_params["job"]), visit.caller)
        if job is None:
            raise NotFound("Nothing is known of this any more. What was decided is in the queue.")
        return await self._show(visit, job)

    async def _show(self, visit: Visit, job: Job) -> Response:
        undo = await offers(self._console.db, visit.caller)
        return await visit.show("together_done.html", 503 if job.fault else 200, job=job, **undo)

    async def _rows(self, form: Form) -> Sequence[RowMapping]:
        async with self._console.db.reading() as tx:
            return await views.items_by_id(tx, [as_uuid(each) for each in _few(form.every("shown"))])

    async def _dialog(
        self, visit: Visit, rows: Sequence[RowMapping], status: int = 200, *, more: int = 0, **context: Any
    ) -> Response:
        ready = [row for row in rows if _waits(row) and not row["checks"] and not row["blocks"]]
        ask = [row for row in rows if _waits(row) and (row["checks"] or row["blocks"])]
        left = [row for row in rows if not _waits(row)]
        form = visit.form
        typed = {name: form.text(name) for name in ("reason", "at", "until")}
        facts = {"soonest": f"{now():%Y-%m-%dT%H:%M}", "site": self._console.site_url, "more": more, "most": MOST}
        asked = {"refused": None, "times": None, "ticked": None} | context
        return await visit.show("together.html", status, ready=ready, ask=ask, left=left, typed=typed, **facts, **asked)

    async def _decide(self, caller: Caller, orders: Sequence[tuple[Order, str]], job: Job) -> None:
        """What the lock took or is still thinking about, and what was refused, each with its reason."""
        sent: list[tuple[Decided, str]] = []
        in_order = sorted(orders, key=lambda each: each[0].item_id)
        for first in range(0, len(in_order), AT_ONCE):
            sent += await self._decide_some(caller, in_order[first : first + AT_ONCE], job)
            job.sent = min(first + AT_ONCE, len(in_order))
        hashes = [decided.statement_hash for decided, _ in sent]
        found = await wait_for_verdicts(self._console.db, self._console.live, hashes, ANSWERS) if hashes else {}
        for decided, title in sent:
            outcome, reason = found.get(decided.statement_hash, ("sent", ""))
            if outcome == "refused":
                job.refused.append(Outcome(decided.item_id, title, f"The lock refused it: {reason}"))
            else:
                job.done.append(Outcome(decided.item_id, title, "" if outcome == "applied" else "on its way"))

    async def _decide_some(
        self, caller: Caller, orders: Sequence[tuple[Order, str]], job: Job
    ) -> list[tuple[Decided, str]]:
        sent: list[tuple[Decided, str]] = []
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            for order, title in orders:
                try:
                    sent.append((await decide_item(tx, key, caller, order), title))
                except (Conflict, Refused, NotFound) as error:
                    job.refused.append(Outcome(order.item_id, title, error.message))
        return sent


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


def _times(form: Form) -> dict[str, datetime | None]:
    found = {name: read_time(form.text(field)) if form.text(field) else None for name, field in TIMES.items()}
    check_times("approve", found["publish_at"], found["expire_at"], now())
    return found


TIMES = {"publish_at": "at", "expire_at": "until"}


def _word(form: Form) -> dict[str, Any]:
    """What is the same in every order, checked before any of them is made."""
    verdict, at, until = verdict_of(form)
    check_times(verdict, at, until, now())
    reason = check_reason(verdict, form.text("reason"))
    return {"verdict": verdict, "reason": reason, "publish_at": at, "expire_at": until, "batch": new_id()}


def _said(made: dict[str, Any]) -> str:
    verdict: Verdict = made["verdict"]
    return "scheduled" if made["publish_at"] else WORDS[verdict]
