"""The pages of cards, for owners and admins: who waits for what; allow, refuse, take back (S5)."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.actions import store as actions
from services.console.actions.domain import read_action
from services.console.apps.packages import store as packages
from services.console.apps.packages.domain import read_package_row
from services.console.cards import store
from services.console.cards.domain import read_card
from services.console.cards.usecases.decide_card import Order, decide_card
from services.console.cards.usecases.wait_for_decision import wait_for_decision
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused

AT_ONCE = 2.0
"""Seconds that a page waits for the answer, to show it at once; later it comes by itself."""


class CardPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/cards", page(self.list, "connectors")),
            Route("/cards/{card_id}", page(self.show, "connectors")),
            Route("/cards/{card_id}/decide", page(self.decide, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            at = now()
            waiting = [read_card(row, at) for row in await store.waiting(tx, at)]
            settled = [read_card(row, at) for row in await store.settled(tx, at)]
            doing = [read_action(row, at) for row in await actions.waiting(tx, at)]
            apps = [read_package_row(row, at) for row in await packages.waiting(tx, at)]
        return await visit.show("cards.html", waiting_cards=waiting, settled=settled, actions=doing, apps=apps)

    async def show(self, visit: Visit) -> Response:
        return await self._show(visit, _card_id(visit))

    async def _show(self, visit: Visit, card_id: UUID, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            row, decisions = await store.one(tx, card_id), await store.decisions(tx, card_id)
        if row is None:
            raise NotFound("There is no such card.")
        told = {"shown": read_card(row, now()), "decisions": decisions, "refused": None, "typed": ""}
        return await visit.show("card.html", status, **(told | context))

    async def decide(self, visit: Visit) -> Response:
        card_id, form = _card_id(visit), visit.form
        order = Order(card_id, form.text("verdict"), form.text("reason"), form.mark("hash"))
        try:
            async with self._console.db.transaction() as tx:
                sent = await decide_card(tx, await self._console.ring.signing(tx), visit.caller, order)
        except (Refused, Conflict) as refused:
            return await self._show(visit, card_id, refused.status, refused=refused, typed=order.reason)
        await wait_for_decision(self._console.db, self._console.live, sent, AT_ONCE)
        return go(f"/cards/{card_id}")


def _card_id(visit: Visit) -> UUID:
    return as_uuid(visit.request.path_params["card_id"])
