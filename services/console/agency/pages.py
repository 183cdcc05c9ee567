"""Setting how the agent works, on the page of switches."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.agency.domain import check_wanted
from services.console.agency.usecases.set_setting import set_setting
from services.console.desk import Desk, Visit, go
from services.console.switches.pages import SwitchPages
from shared.errors import Conflict, NotFound, Refused

LONGEST = 60


class AgencyPages:
    def __init__(self, desk: Desk, switches: SwitchPages) -> None:
        self._desk, self._console, self._switches = desk, desk.console, switches

    def routes(self) -> list[Route]:
        return [Route("/switches/agent/set", self._desk.page(self.set, "switch"), methods=["POST"])]

    async def set(self, visit: Visit) -> Response:
        form = visit.form
        subject, value, reason, asked = (form.text(name) for name in ("subject", "value", "reason", "at"))
        try:
            wanted = check_wanted(form.text("name"), subject, value)
            version = form.whole("version") if form.text("version") else None
            async with self._console.db.transaction() as tx:
                await set_setting(tx, await self._console.ring.signing(tx), visit.caller, wanted, reason, version)
        except (Refused, Conflict, NotFound) as refused:
            kept = {"asked": asked[:LONGEST], "to": value, "refused": refused, "typed": reason, "for_whom": subject}
            return await self._switches.render(visit, refused.status, **kept)
        return go("/switches#s-agent")
