"""Guests: who was invited to read the site, until when. For owners and admins."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.guests import store
from services.console.guests.domain import FEWEST_DAYS, MOST_DAYS, state_of
from services.console.guests.usecases.invite_guest import invite_guest
from services.console.guests.usecases.revoke_guest import revoke_guest
from shared.clock import now
from shared.errors import Refused

USUAL_DAYS = "14"


class GuestPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/guests", page(self.list, "guests")),
            Route("/guests", page(self.invite, "guests"), methods=["POST"]),
            Route("/guests/{subject}/revoke", page(self.revoke, "guests"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def invite(self, visit: Visit) -> Response:
        given = {name: visit.form.text(name) for name in ("label", "days")}
        try:
            async with self._console.db.transaction() as tx:
                days = visit.form.whole("days")
                token = await invite_guest(tx, self._console.identity, visit.caller, given["label"], days)
        except Refused as refused:
            return await self._show(visit, refused.status, refused=refused, given=given)
        return await self._show(visit, link=self._console.guest_link(token), whose=given["label"])

    async def revoke(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            subject = as_uuid(visit.request.path_params["subject"])
            await revoke_guest(tx, self._console.identity, visit.caller, subject)
        return go("/guests")

    async def _show(self, visit: Visit, status: int = 200, **context: object) -> Response:
        at = now()
        async with self._console.db.reading() as tx:
            found = await store.list_guests(tx)
        rows = [{**row, "state": state_of(row["until"], row["revoked_at"], at)} for row in found]
        nothing = {"refused": None, "given": {"label": "", "days": USUAL_DAYS}, "link": "", "whose": ""}
        told = {"rows": rows, "fewest": FEWEST_DAYS, "most": MOST_DAYS, **nothing, **context}
        return await visit.show("guests.html", status, **told)
