"""The queue's pages: list and item, decide, claim, withdraw."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from schemas.model import Verdict
from services.console.claims.usecases.claim_item import claim_item
from services.console.desk import Desk, Visit, go
from services.console.forms import Form, as_uuid, page_number, query
from services.console.people.domain import Caller
from services.console.queue import views
from services.console.queue.domain import Order, check_verdict
from services.console.queue.preview import HEADERS, preview_html
from services.console.queue.reading import Reading, read_item
from services.console.queue.times import read_time
from services.console.queue.usecases.decide_item import decide_item
from services.console.queue.usecases.withdraw_item import withdraw_item
from services.console.rendering import Templates
from services.console.switches.store import in_force
from services.console.undo.domain import ends_at, may_undo
from services.console.undo.showing import offers
from shared.clock import now
from shared.errors import Conflict, Refused


class QueuePages:
    """Where reviewers work."""

    def __init__(self, desk: Desk, templates: Templates) -> None:
        self._desk, self._templates, self._console = desk, templates, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue", page(self.list)),
            Route("/queue/{item_id}", page(self.item)),
            Route("/queue/{item_id}/decide", page(self.decide, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/withdraw", page(self.withdraw, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/preview", page(self.preview)),
        ]

    async def list(self, visit: Visit) -> Response:
        undo = await offers(self._console.db, visit.caller)
        return await visit.show("queue.html", reading=None, **await self._list(visit.request), **undo)

    async def item(self, visit: Visit) -> Response:
        item_id = as_uuid(visit.request.path_params["item_id"])
        if visit.caller.may("decide"):
            async with self._console.db.transaction() as tx:
                found = await claim_item(tx, visit.caller, item_id)
            if found.begun:
                self._console.live.tell(event="claim", item_id=str(item_id))
        return await self._show(visit, item_id)

    async def decide(self, visit: Visit) -> Response:
        item_id = as_uuid(visit.request.path_params["item_id"])
        typed = {"typed": visit.form.text("reason"), "typed_at": visit.form.text("at")}
        typed["typed_until"] = visit.form.text("until")
        try:
            order = order_of(visit)
            async with self._console.db.transaction() as tx:
                await decide_item(tx, await self._console.ring.signing(tx), visit.caller, order)
        except Conflict as conflict:
            return await self._show(visit, item_id, 409, conflict=conflict, read=order.revision, **typed)
        except Refused as refused:
            return await self._show(visit, item_id, refused.status, refused=refused, **typed)
        return go(f"/queue/{item_id}{filter_query(visit.request)}")

    async def withdraw(self, visit: Visit) -> Response:
        item_id, reason = as_uuid(visit.request.path_params["item_id"]), visit.form.text("reason")
        try:
            async with self._console.db.transaction() as tx:
                await withdraw_item(
                    tx, await self._console.ring.signing(tx), visit.caller, item_id, reason, visit.form.whole("version")
                )
        except Conflict as conflict:
            return await self._show(visit, item_id, 409, conflict=conflict, typed=reason)
        return go(f"/queue/{item_id}{filter_query(visit.request)}")

    async def preview(self, visit: Visit) -> Response:
        number = Form(tuple(visit.request.query_params.multi_items())).whole("revision")
        lang, title, body = await preview_html(self._console, as_uuid(visit.request.path_params["item_id"]), number)
        page = self._templates.render("preview.html", {"lang": lang, "title": title, "body": body})
        return HTMLResponse(page, headers=HEADERS)

    async def _show(self, visit: Visit, item_id: UUID, status: int = 200, **context: Any) -> Response:
        view = query(visit.request, "view", 10)
        number = Form(tuple(visit.request.query_params.multi_items())).whole("revision")
        read = context.pop("read", None)  # what the reviewer had read stands beside what is there now
        reading = await read_item(self._console.db, item_id, number, view, read)
        around = await self._list(visit.request) | await offers(self._console.db, visit.caller)
        asked = {"conflict": None, "refused": None, "typed": "", "typed_at": "", "typed_until": ""} | context
        return await visit.show(
            "queue.html", status, reading=reading, view=view, **around, **asked, **self._facts(reading, visit.caller)
        )

    @staticmethod
    def _undo_until(reading: Reading, caller: Caller) -> datetime | None:
        """Until when the caller can undo the decision that is shown, if at all."""
        last = reading.last
        if last is None or last["statement_hash"] != reading.item["verdict_hash"] or not may_undo(last, caller):
            return None
        ends = ends_at(last)
        return ends if ends and ends > now() else None

    def _facts(self, reading: Reading, caller: Caller) -> dict[str, Any]:
        item = reading.item
        claimed = item["claimed_until"] is not None and item["claimed_until"] > now()
        return {
            "claimed": claimed,
            "undo_until": self._undo_until(reading, caller),
            "soonest": f"{now():%Y-%m-%dT%H:%M}",
            "public_url": self._console.reader_url(item, reading.about),
        }

    async def _list(self, request: Request) -> dict[str, Any]:
        by = read_filter(request)
        async with self._console.db.reading() as tx:
            rows, found = await views.list_items(tx, by), await views.count_items(tx, by)
            languages, switches = await views.languages(tx), await in_force(tx)
            refused = await views.refused_submissions(tx, 3)
        pages = {"older": by.page > 1, "newer": found > by.page * views.PAGE}
        return {"rows": rows, "found": found, "by": by, "languages": languages, "pages": pages, "moment_now": now()} | {
            "switches": {"publication_mode": "review", "four_eyes": "off"}
            | {name: row["value"] for name, row in switches.items()},
            "q": filter_query(request),
            "refused_submissions": refused,
        }


def read_filter(request: Request) -> views.Filter:
    names = ("state", "kind", "lang", "findings", "q")
    given: Mapping[str, str] = {name: query(request, name) for name in names}
    return views.Filter(**{**given, "state": given["state"] or "open"}, page=page_number(request))


def filter_query(request: Request, **more: object) -> str:
    """`?state=…` with what the list is filtered by, so that it stays as it was."""
    kept = {
        name: request.query_params[name]
        for name in ("state", "kind", "lang", "findings", "q")
        if request.query_params.get(name)
    }
    if request.query_params.get("page", "1") != "1":
        kept["page"] = request.query_params["page"]
    found = urlencode(kept | {name: str(value) for name, value in more.items()})
    return f"?{found}" if found else ""


def order_of(visit: Visit) -> Order:
    """What the decision form says was seen. All of it is required: a decision names revision and content."""
    form = visit.form
    revision, version = form.whole("revision"), form.whole("version")
    if revision is None or version is None or not form.text("hash"):
        raise Refused("The decision does not say which revision it is for; open the item again.", code="order")
    item_id, (verdict, at, until) = as_uuid(visit.request.path_params["item_id"]), verdict_of(form)
    return Order(item_id, verdict, form.text("reason"), revision, form.text("hash"), version, at, until)


def verdict_of(form: Form) -> tuple[Verdict, datetime | None, datetime | None]:
    """The verdict, when an approved revision becomes public, and until when. A time that was typed is never passed over in silence."""
    told, at = form.text("verdict"), form.text("at")
    until = read_time(form.text("until")) if form.text("until") else None
    if told == "schedule":
        return "approve", read_time(at), until
    if told == "approve" and at:
        raise Refused("A time is filled in: schedule it, or clear the time to publish at once.", code="time")
    return check_verdict(told), None, until
