"""Share links: on an item, and all of them. Whoever may decide on items opens and closes them."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.links import store
from services.console.links.domain import LONGEST, USUAL, read_link
from services.console.links.usecases.close_link import close_link
from services.console.links.usecases.open_link import open_link
from services.console.links.usecases.wait_for_link import wait_for_link
from services.console.queue.times import read_time
from shared.clock import now
from shared.errors import NotFound, Refused

PATIENCE = 3.0
"""Seconds that a page waits for the lock's answer."""


class LinkPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/links", page(self.all, "decide")),
            Route("/links/{link_id}/close", page(self.close, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/links", page(self.of_item, "decide")),
            Route("/queue/{item_id}/links", page(self.open, "decide"), methods=["POST"]),
        ]

    async def all(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            rows, at = await store.newest(tx), now()
        links = [(read_link(row, at), row["title"], row["place"]) for row in rows]
        return await visit.show("links.html", links=links)

    async def of_item(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def open(self, visit: Visit) -> Response:
        """The link is shown by this answer and by no other."""
        given = {name: visit.form.text(name) for name in ("label", "until")}
        item_id = as_uuid(visit.request.path_params["item_id"])
        try:
            until = read_time(given["until"])
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                opened = await open_link(tx, key, visit.caller, item_id, given["label"], until)
        except Refused as refused:
            return await self._show(visit, refused.status, refused=refused, given=given)
        link = await wait_for_link(self._console.db, self._console.live, opened.link_id, PATIENCE)
        if link.state == "refused":
            return await self._show(
                visit, 409, refused=Refused(f"The lock refused it: {link.refusal}. Nothing was changed."), given=given
            )
        return await self._show(visit, fresh=self._console.share_link(opened.token), whose=link.label)

    async def close(self, visit: Visit) -> Response:
        link_id = as_uuid(visit.request.path_params["link_id"])
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            await close_link(tx, key, visit.caller, link_id, visit.form.text("reason"))
        link = await wait_for_link(self._console.db, self._console.live, link_id, PATIENCE)
        return go(f"/queue/{link.item_id}/links")

    async def _show(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        item_id: UUID = as_uuid(visit.request.path_params["item_id"])
        at = now()
        async with self._console.db.reading() as tx:
            item, rows = await store.item(tx, item_id), await store.of_item(tx, item_id)
        if item is None:
            raise NotFound("There is no such item in the queue.")
        told: dict[str, Any] = {
            "item": item,
            "links": [read_link(row, at) for row in rows],
            "refused": None,
            "fresh": "",
            "whose": "",
        }
        told |= {"given": {"label": "", "until": f"{at + USUAL:%Y-%m-%dT%H:%M}"}, "longest": LONGEST.days}
        return await visit.show("item_links.html", status, **(told | context))
