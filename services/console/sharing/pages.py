"""Shared with the agent: what it may read now, what could be shared, and taking it back. For owners, admins and moderators."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.sharing import store
from services.console.sharing.domain import MOST_TITLE, SOURCES
from services.console.sharing.usecases.share_record import share_feedback, share_item, share_text
from services.console.sharing.usecases.take_back import take_back
from shared.errors import NotFound, Refused

FEEDBACK_SHOWN = 20
WHOSE = {
    "staff": "people here",
    "visitor": "a visitor",
    "outside": "somebody outside",
}


class SharingPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/sharing", page(self.all, "share")),
            Route("/sharing", page(self.text, "share"), methods=["POST"]),
            Route("/sharing/feedback", page(self.feedback, "share"), methods=["POST"]),
            Route("/sharing/items/{item_id}", page(self.item, "share"), methods=["POST"]),
            Route("/sharing/{record_id}/take-back", page(self.back, "share"), methods=["POST"]),
        ]

    async def all(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def text(self, visit: Visit) -> Response:
        given = {name: visit.form.text(name) for name in ("title", "text", "source")}
        try:
            async with self._console.db.transaction() as tx:
                await share_text(tx, visit.caller, **given)
        except Refused as refused:
            return await self._show(visit, refused.status, refused=refused, given=given)
        return go("/sharing")

    async def feedback(self, visit: Visit) -> Response:
        try:
            async with self._console.db.transaction() as tx:
                await share_feedback(tx, visit.caller, [as_uuid(each) for each in visit.form.every("signal")])
        except (Refused, NotFound) as refused:
            return await self._show(visit, refused.status, refused_feedback=refused)
        return go("/sharing")

    async def item(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await share_item(tx, visit.caller, as_uuid(visit.request.path_params["item_id"]))
        return go("/sharing")

    async def back(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await take_back(tx, visit.caller, as_uuid(visit.request.path_params["record_id"]))
        return go("/sharing")

    async def _show(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            told: dict[str, Any] = {
                "rows": await store.shared(tx),
                "count": await store.count_shared(tx),
                "before": await store.taken_back(tx),
                "messages": await store.open_feedback(tx, None, FEEDBACK_SHOWN),
            }
        nothing = {"refused": None, "refused_feedback": None, "given": {"title": "", "text": "", "source": ""}}
        fixed = {"whose": WHOSE, "sources": SOURCES, "most_title": MOST_TITLE}
        return await visit.show("sharing.html", status, **told, **fixed, **(nothing | context))
