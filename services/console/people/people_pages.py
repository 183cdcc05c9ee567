"""People and their roles, one's own sessions, keys and API tokens."""

from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.people import store
from services.console.people.domain import ROLES
from services.console.people.usecases.add_person import add_person, renew_link
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.make_token import make_token
from shared.clock import now
from shared.errors import Refused


class PeoplePages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/people", page(self.list, "people")),
            Route("/people", page(self.add, "people"), methods=["POST"]),
            Route("/people/{person_id}/role", page(self.change, "people"), methods=["POST"]),
            Route("/people/{person_id}/link", page(self.link, "people"), methods=["POST"]),
            Route("/me", page(self.me)),
            Route("/me/keys", page(self.keys), methods=["POST"]),
            Route("/me/tokens", page(self.make_token), methods=["POST"]),
            Route("/me/tokens/{token_id}/revoke", page(self.revoke), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def add(self, visit: Visit) -> Response:
        given = {name: visit.form.text(name) for name in ("name", "handle", "role")}
        try:
            async with self._console.db.transaction() as tx:
                token = await add_person(tx, visit.caller, given["name"], given["handle"], given["role"])
        except Refused as refused:
            return await self._show(visit, refused.status, refused=refused, given=given)
        return await self._show(visit, link=self._link(token), whose=given["name"])

    async def link(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            token = await renew_link(tx, visit.caller, as_uuid(visit.request.path_params["person_id"]))
        return await self._show(visit, link=self._link(token), whose=visit.form.text("name"))

    async def change(self, visit: Visit) -> Response:
        person_id, role = as_uuid(visit.request.path_params["person_id"]), visit.form.text("role")
        async with self._console.db.transaction() as tx:
            await change_role(tx, visit.caller, person_id, role, disabled=visit.form.text("disabled") == "yes")
        self._console.live.end(person=str(person_id))
        return go("/people")

    async def me(self, visit: Visit) -> Response:
        return await self._show_me(visit)

    async def keys(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await store.change_person(tx, UUID(visit.caller.id), single_keys=visit.form.text("single_keys") == "on")
        return go("/me")

    async def make_token(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            made = await make_token(tx, visit.caller, visit.form.text("name"), visit.form.text("role"))
        return await self._show_me(visit, made=made)

    async def revoke(self, visit: Visit) -> Response:
        token_id = as_uuid(visit.request.path_params["token_id"])
        async with self._console.db.transaction() as tx:
            await store.revoke_token(tx, token_id, UUID(visit.caller.id), now())
        return go("/me")

    def _link(self, token: str) -> str:
        return f"{self._console.settings.url}/set-password/{token}"

    async def _show(self, visit: Visit, status: int = 200, **context: object) -> Response:
        async with self._console.db.reading() as tx:
            rows = await store.all_people(tx)
        asked = {
            "refused": None,
            "given": {"name": "", "handle": "", "role": "moderator"},
            "link": "",
            "whose": "",
        } | context
        return await visit.show("people.html", status, rows=rows, roles=ROLES, **asked)

    async def _show_me(self, visit: Visit, made: str = "") -> Response:
        async with self._console.db.reading() as tx:
            tokens = await store.tokens_of(tx, UUID(visit.caller.id))
        scopes = ROLES[ROLES.index(visit.caller.role) :]
        return await visit.show("me.html", tokens=tokens, scopes=scopes, made=made)
