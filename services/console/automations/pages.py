"""The page of automations: whose, when, what, who allowed it; and taking one back. Everybody sees their own, owners and admins all."""

from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.actions.usecases.wait_for_action import wait_for_action
from services.console.automations import store
from services.console.automations.domain import may_revoke, read_automation
from services.console.automations.usecases.revoke_automation import Revocation, revoke_automation
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from shared.errors import Conflict, Refused, SchleuseError

AT_ONCE = 2.0
"""Seconds that a page waits for the answer, to show it at once; later it comes by itself."""


class AutomationPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/automations", page(self.list)),
            Route("/automations/{card_id}/revoke", page(self.revoke), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def _show(
        self, visit: Visit, status: int = 200, refused: SchleuseError | None = None, typed: tuple[UUID, str] | None = None
    ) -> Response:  # fmt: skip
        mine = None if visit.caller.may("connectors") else visit.caller.id
        async with self._console.db.reading() as tx:
            here = [read_automation(row) for row in await store.listed(tx, mine)]
            ended = [read_automation(row) for row in await store.listed(tx, mine, ended=True)]
        able = {each.card.card_id for each in here if each.can_be_revoked and may_revoke(visit.caller, each.card)}
        told = {"here": here, "ended": ended, "able": able, "refused": refused, "typed": typed or ("", "")}
        return await visit.show("automations.html", status, **told)

    async def revoke(self, visit: Visit) -> Response:
        order = Revocation(as_uuid(visit.request.path_params["card_id"]), visit.form.text("reason"))
        try:
            async with self._console.db.transaction() as tx:
                sent = await revoke_automation(tx, await self._console.ring.signing(tx), visit.caller, order)
        except (Refused, Conflict) as refused:
            return await self._show(visit, refused.status, refused, (order.card_id, order.reason))
        await wait_for_action(self._console.db, self._console.live, sent, AT_ONCE)
        return go("/automations")
