"""One's own keys of the agent's API, on the page about oneself."""

from datetime import timedelta
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.access.domain import Wanted
from services.console.access.usecases.create_access import create_access
from services.console.access.usecases.revoke_access import revoke_access
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.people.me_pages import MePages

LIVES = {"": None, "30": timedelta(days=30), "90": timedelta(days=90), "365": timedelta(days=365)}
"""How long a key lives, by what the form says."""


class AccessPages:
    def __init__(self, desk: Desk, me: MePages) -> None:
        self._desk, self._console, self._me = desk, desk.console, me

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/me/access", page(self.make), methods=["POST"]),
            Route("/me/access/{access_id}/revoke", page(self.revoke), methods=["POST"]),
        ]

    async def make(self, visit: Visit) -> Response:
        form, console = visit.form, self._console
        wanted = Wanted("apikey", form.text("name"), form.text("role"), LIVES.get(form.text("days")))
        async with console.db.transaction() as tx:
            _, key = await create_access(tx, console.identity, visit.caller, UUID(visit.caller.id), wanted)
        return await self._me.render(visit, made_key=key)

    async def revoke(self, visit: Visit) -> Response:
        access_id = as_uuid(visit.request.path_params["access_id"])
        async with self._console.db.transaction() as tx:
            await revoke_access(tx, self._console.identity, visit.caller, access_id)
        return go("/me#a-head")
