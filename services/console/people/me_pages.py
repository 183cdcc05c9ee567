"""One's own account: where one is signed in, the password, single keys, API tokens, and keys of the agent's API."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.access import store as access_keys
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.people import store, views
from services.console.people.browser import same_twice
from services.console.people.domain import ROLES, session_name
from services.console.people.usecases.change_password import change_password
from services.console.people.usecases.make_token import make_token
from services.console.people.usecases.sign_out import sign_out_there
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from services.console.words import as_language
from shared.clock import now
from shared.errors import SchleuseError, Unauthorized


class MePages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/me", page(self.me)),
            Route("/me/keys", page(self.keys), methods=["POST"]),
            Route("/me/language", page(self.language), methods=["POST"]),
            Route("/me/password", page(self.password)),
            Route("/me/password", page(self.change_password), methods=["POST"]),
            Route("/me/sign-out-everywhere", page(self.everywhere), methods=["POST"]),
            Route("/me/sessions/{name}/end", page(self.end_session), methods=["POST"]),
            Route("/me/tokens", page(self.make_token), methods=["POST"]),
            Route("/me/tokens/{token_id}/revoke", page(self.revoke), methods=["POST"]),
        ]

    async def me(self, visit: Visit) -> Response:
        return await self.render(visit)

    async def keys(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await store.change_person(tx, UUID(visit.caller.id), single_keys=visit.form.text("single_keys") == "on")
        return go("/me")

    async def language(self, visit: Visit) -> Response:
        chosen = as_language(visit.form.mark("language"))
        async with self._console.db.transaction() as tx:
            await store.change_person(tx, UUID(visit.caller.id), language=chosen)
        return go("/me")

    async def password(self, visit: Visit) -> Response:
        return await visit.show("password.html", refused=None)

    async def change_password(self, visit: Visit) -> Response:
        console, form = self._console, visit.form
        try:
            same_twice(form)
            await change_password(
                console.db, console.passwords, console.identity, visit.session, form.text("old"), form.text("password")
            )
        except Unauthorized:
            raise
        except SchleuseError as error:
            return await visit.show("password.html", error.status, refused=error)
        return go("/me")

    async def everywhere(self, visit: Visit) -> Response:
        person_id, tokens = UUID(visit.caller.id), visit.form.text("tokens") == "yes"
        async with self._console.db.transaction() as tx:
            await sign_out_everywhere(tx, self._console.identity, visit.caller, person_id, tokens=tokens)
        self._console.live.end(person=visit.caller.id)
        return self._desk.goodbye()

    async def end_session(self, visit: Visit) -> Response:
        name = str(visit.request.path_params["name"])
        async with self._console.db.transaction() as tx:
            ended = await sign_out_there(tx, self._console.identity, UUID(visit.caller.id), name)
        self._console.live.end(session=ended)
        return self._desk.goodbye() if ended == visit.session.token_hash else go("/me")

    async def make_token(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            made = await make_token(tx, visit.caller, visit.form.text("name"), visit.form.text("role"))
        return await self.render(visit, made=made)

    async def revoke(self, visit: Visit) -> Response:
        token_id = as_uuid(visit.request.path_params["token_id"])
        async with self._console.db.transaction() as tx:
            await store.revoke_token(tx, token_id, UUID(visit.caller.id), now())
        return go("/me")

    async def render(self, visit: Visit, made: str = "", made_key: str = "") -> Response:
        """The page, with the token or key that was just made: it is shown this once."""
        person_id, mine = UUID(visit.caller.id), visit.session.token_hash
        async with self._console.db.reading() as tx:
            tokens, rows = await views.tokens_of(tx, person_id), await views.sessions_of(tx, person_id, now())
            access = await access_keys.listed(tx, now(), person_id=person_id)
        sessions = [{**row, "name": session_name(row["token_hash"]), "here": row["token_hash"] == mine} for row in rows]
        scopes = ROLES[ROLES.index(visit.caller.role) :]
        shown: dict[str, Any] = {"tokens": tokens, "sessions": sessions, "scopes": scopes, "access": access}
        return await visit.show("me.html", **shown, made=made, made_key=made_key)
