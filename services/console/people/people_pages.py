"""People: who may sign in, as what; invitations; new passwords; shutting out. For owners."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Handler, Visit, go
from services.console.forms import as_uuid
from services.console.people import views
from services.console.people.domain import ROLES
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.invite_person import invite_person, revoke_invitation
from services.console.people.usecases.offer_reset import offer_reset
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from shared.clock import now
from shared.errors import Refused

NOTHING = {"refused": None, "given": {"name": "", "handle": "", "role": "moderator"}, "invitation": "", "reset": "", "whose": ""}  # fmt: skip


class PeoplePages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        def form(path: str, handler: Handler) -> Route:
            return Route(path, self._desk.page(handler, "people"), methods=["POST"])

        return [
            Route("/people", self._desk.page(self.list, "people")),
            form("/people/invitations", self.invite),
            form("/people/invitations/{invitation_id}/revoke", self.revoke),
            form("/people/{person_id}/role", self.change),
            form("/people/{person_id}/reset", self.reset),
            form("/people/{person_id}/sign-out", self.sign_out),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._show(visit)

    async def invite(self, visit: Visit) -> Response:
        given = {name: visit.form.text(name) for name in ("role", "name", "handle")}
        try:
            async with self._console.db.transaction() as tx:
                token = await invite_person(tx, visit.caller, **given)
        except Refused as refused:
            return await self._show(visit, refused.status, refused=refused, given=given)
        return await self._show(visit, invitation=self._console.link("invitation", token), whose=given["name"])

    async def revoke(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await revoke_invitation(tx, visit.caller, as_uuid(visit.request.path_params["invitation_id"]))
        return go("/people")

    async def change(self, visit: Visit) -> Response:
        person_id, role = as_uuid(visit.request.path_params["person_id"]), visit.form.text("role")
        out = visit.form.text("disabled") == "yes"
        async with self._console.db.transaction() as tx:
            changed = await change_role(tx, self._console.identity, visit.caller, person_id, role, disabled=out)
        if changed:
            self._console.live.end(person=str(person_id))
        return go("/people")

    async def reset(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            token = await offer_reset(tx, visit.caller, as_uuid(visit.request.path_params["person_id"]))
        return await self._show(visit, reset=self._console.link("set-password", token), whose=visit.form.text("name"))

    async def sign_out(self, visit: Visit) -> Response:
        person_id, tokens = as_uuid(visit.request.path_params["person_id"]), visit.form.text("tokens") == "yes"
        async with self._console.db.transaction() as tx:
            await sign_out_everywhere(tx, self._console.identity, visit.caller, person_id, tokens=tokens)
        self._console.live.end(person=str(person_id))
        return go("/people")

    async def _show(self, visit: Visit, status: int = 200, **context: object) -> Response:
        async with self._console.db.reading() as tx:
            rows, invited = await views.list_people(tx, now()), await views.open_invitations(tx, now())
        return await visit.show(
            "people.html", status, rows=rows, invited=invited, roles=ROLES, **{**NOTHING, **context}
        )
