"""The pages of action cards: exactly what the agent would do; allow or refuse (S5, S11). Everybody sees their own, owners and admins all."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.actions import store
from services.console.actions.domain import check_may_see, may_decide, read_action
from services.console.actions.usecases.decide_action import Order, decide_action
from services.console.actions.usecases.wait_for_action import wait_for_action
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused

AT_ONCE = 2.0
"""Seconds that a page waits for the answer, to show it at once; later it comes by itself."""


class ActionPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/actions", page(self.list)),
            Route("/actions/{card_id}", page(self.show)),
            Route("/actions/{card_id}/decide", page(self.decide), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        mine = None if visit.caller.may("connectors") else visit.caller.id
        async with self._console.db.reading() as tx:
            at = now()
            waiting = [read_action(row, at) for row in await store.waiting(tx, at, mine)]
            settled = [read_action(row, at) for row in await store.settled(tx, at, mine)]
        return await visit.show("actions.html", actions=waiting, settled=settled)

    async def show(self, visit: Visit) -> Response:
        return await self._show(visit, _card_id(visit))

    async def _show(self, visit: Visit, card_id: UUID, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            row, decisions = await store.one(tx, card_id), await store.decisions(tx, card_id)
        if row is None:
            raise NotFound("There is no such card.")
        shown = read_action(row, now())
        check_may_see(visit.caller, shown.card)
        mine = may_decide(visit.caller, shown.card)
        told = {"shown": shown, "decisions": decisions, "refused": None, "typed": "", "mine": mine}
        return await visit.show("action.html", status, **(told | context))

    async def decide(self, visit: Visit) -> Response:
        card_id, form = _card_id(visit), visit.form
        order = Order(card_id, form.text("verdict"), form.text("reason"), form.mark("hash"))
        try:
            async with self._console.db.transaction() as tx:
                sent = await decide_action(tx, await self._console.ring.signing(tx), visit.caller, order)
        except (Refused, Conflict) as refused:
            return await self._show(visit, card_id, refused.status, refused=refused, typed=order.reason)
        await wait_for_action(self._console.db, self._console.live, sent, AT_ONCE)
        return go(f"/actions/{card_id}")


def _card_id(visit: Visit) -> UUID:
    return as_uuid(visit.request.path_params["card_id"])
