"""The switches page: what is in force, who set it, when and why; changing one asks for a reason and shows the effect."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.agency.reading import agency_context
from services.console.connectors.store import listed as list_connectors
from services.console.desk import Desk, Visit, go
from services.console.forms import query
from services.console.queue.views import count_by_author
from services.console.switches import store
from services.console.switches.domain import BY_NAME, SWITCHES, check_switch
from services.console.switches.usecases.set_switch import set_switch
from shared.errors import Conflict, Refused


class SwitchPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/switches", page(self.show)),
            Route("/switches/{name}", page(self.set, "switch"), methods=["POST"]),
        ]

    async def show(self, visit: Visit) -> Response:
        asked = query(visit.request, "set", 60)
        return await self.render(
            visit,
            asked=asked if asked in BY_NAME or asked.startswith("agent-") else "",
            to=query(visit.request, "to", 300),
        )

    async def set(self, visit: Visit) -> Response:
        name, value, reason = visit.request.path_params["name"], visit.form.text("value"), visit.form.text("reason")
        check_switch(name)
        try:
            async with self._console.db.transaction() as tx:
                version = visit.form.whole("version")
                await set_switch(tx, await self._console.ring.signing(tx), visit.caller, name, value, reason, version)
        except (Refused, Conflict) as refused:
            return await self.render(visit, refused.status, asked=name, to=value, refused=refused, typed=reason)
        return go("/switches")

    async def render(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        """The page. `asked`: the switch whose form is open, `to` and `typed` what it says, `refused` why it was not taken."""
        async with self._console.db.reading() as tx:
            held, changes = await store.in_force(tx), await store.changes(tx, 50)
            connectors = await list_connectors(tx) if visit.caller.may("connectors") else ()
            waiting, mine = await count_by_author(tx, visit.caller.id)
            agency = await agency_context(tx)
        defaults = {"site_mode": self._console.settings.site_mode_default}
        values: dict[str, str] = {each.name: defaults.get(each.name, each.choices[0].value) for each in SWITCHES}
        values |= {name: row["value"] for name, row in held.items()}
        under_way = {row["name"]: row for row in reversed(changes) if row["outcome"] == "sent"}
        asked = {"asked": "", "to": "", "refused": None, "typed": "", "for_whom": ""} | context
        facts: dict[str, Any] = {
            "held": held,
            "values": values,
            "under_way": under_way,
            "changes": changes,
            "connectors": connectors,
            **agency,
        }
        return await visit.show(
            "switches.html", status, switches=SWITCHES, waiting_items=waiting, mine=mine, **facts, **asked
        )
