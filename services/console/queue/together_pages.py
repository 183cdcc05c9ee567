"""Deciding on several items: first what would become public, then the word for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.engine import RowMapping
from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import as_uuid, whole
from services.console.queue import views
from services.console.queue.domain import Order, is_on_its_way
from services.console.queue.usecases.decide_item import decide_item
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused

MOST = 500


@dataclass(frozen=True)
class Outcome:
    item_id: UUID
    title: str
    reason: str


class TogetherPages:
    """Bulk approval. Items with findings take part only when ticked one by one; stopped ones never."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/together", page(self.ask, "decide")),
            Route("/queue/together", page(self.approve, "decide"), methods=["POST"]),
        ]

    async def ask(self, visit: Visit) -> Response:
        chosen = [as_uuid(each) for each in _few(visit.request.query_params.getlist("item"))]
        async with self._console.db.reading() as tx:
            rows = await views.items_by_id(tx, chosen)
        ready = [row for row in rows if _waits(row) and not row["checks"]]
        ask = [row for row in rows if _waits(row) and row["checks"]]
        left = [row for row in rows if not _waits(row)]
        return await visit.show("together.html", ready=ready, ask=ask, left=left)

    async def approve(self, visit: Visit) -> Response:
        done: list[Outcome] = []
        refused: list[Outcome] = []
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            for order, title in sorted(map(_order, _few(visit.form.every("item"))), key=lambda each: each[0].item_id):
                try:
                    await decide_item(tx, key, visit.caller, order)
                    done.append(Outcome(order.item_id, title, ""))
                except (Conflict, Refused, NotFound) as error:
                    refused.append(Outcome(order.item_id, title, error.message))
        return await visit.show("together_done.html", done=done, refused=refused)


def _waits(row: RowMapping) -> bool:
    return row["state"] == "submitted" and not row["blocks"] and not is_on_its_way(row, now())


def _few(listed: Sequence[str]) -> Sequence[str]:
    """Refused above MOST: leaving some out without a word would look like a decision on them."""
    if len(listed) > MOST:
        raise Refused(f"{len(listed)} items are selected; at most {MOST} can be decided together. Select fewer.")
    return listed


def _order(told: str) -> tuple[Order, str]:
    """`id:revision:version:hash:title` as the page asked it: what was shown is what is decided on."""
    parts = told.split(":", 4)
    revision, version = (whole(each) for each in parts[1:3]) if len(parts) == 5 else (None, None)
    if revision is None or version is None:
        raise Refused("The list does not say which revisions were shown; select the items again.", code="order")
    return Order(as_uuid(parts[0]), "approve", "", revision, parts[3], version), parts[4]
