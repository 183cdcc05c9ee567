"""The operator's commands on people (S12): recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.parts import Console
from services.console.people import views
from services.console.people.domain import OPERATOR
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.invite_person import invite_person
from services.console.people.usecases.offer_reset import offer_reset
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound

Args = dict[str, Any]


class PeopleOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON. People are named by what they sign in with."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "people.list": self.listed,
            "people.find": self.find,
            "people.invite": self.invite,
            "people.reset": self.reset,
            "people.change": self.change,
            "people.sign_out": self.sign_out,
        }

    async def listed(self, _: Args) -> Args:
        """{"people": [{"handle","name","role","disabled","changed_by","sign_ins","tokens"}], "invitations": [{"role","name","handle","expires_at"}]}."""
        at = now()
        async with self._console.db.reading() as tx:
            rows, invited = await views.list_people(tx, at), await views.open_invitations(tx, at)
        people = [
            {name: row[name] for name in ("handle", "name", "role", "disabled", "changed_by", "sign_ins", "tokens")}
            for row in rows
        ]
        waiting = [
            {name: row[name] for name in ("role", "name", "handle", "created_by")}
            | {"expires_at": row["expires_at"].isoformat()}
            for row in invited
        ]
        return {"people": people, "invitations": waiting}

    async def find(self, args: Args) -> Args:
        """args {"handle"} → {"id"}: what the agent knows the person by."""
        async with self._console.db.reading() as tx:
            return {"id": str(await self._find(tx, args))}

    async def invite(self, args: Args) -> Args:
        """args {"role", "name"?, "handle"?} → {"url"}: the link, once."""
        name, handle = str(args.get("name") or ""), str(args.get("handle") or "")
        async with self._console.db.transaction() as tx:
            token = await invite_person(tx, OPERATOR, str(args["role"]), name, handle)
        return {"url": self._console.link("invitation", token)}

    async def reset(self, args: Args) -> Args:
        """args {"handle"} → {"url"}: the link, once."""
        async with self._console.db.transaction() as tx:
            token = await offer_reset(tx, OPERATOR, await self._find(tx, args))
        return {"url": self._console.link("set-password", token)}

    async def change(self, args: Args) -> Args:
        """args {"handle", "role"?, "disabled"?} → {"changed": bool}."""
        role, disabled = args.get("role"), args.get("disabled")
        async with self._console.db.transaction() as tx:
            person_id = await self._find(tx, args)
            changed = await change_role(
                tx, self._console.identity, OPERATOR, person_id, role and str(role), disabled=disabled
            )
        self._console.live.end(person=str(person_id))
        return {"changed": changed}

    async def sign_out(self, args: Args) -> Args:
        """args {"handle", "tokens"?} → {"tokens": how many were revoked}."""
        async with self._console.db.transaction() as tx:
            person_id = await self._find(tx, args)
            tokens = bool(args.get("tokens"))
            revoked = await sign_out_everywhere(tx, self._console.identity, OPERATOR, person_id, tokens=tokens)
        self._console.live.end(person=str(person_id))
        return {"tokens": revoked}

    async def _find(self, tx: Tx, args: Args) -> UUID:
        found = await views.find_person(tx, str(args["handle"]))
        if found is None:
            raise NotFound(f"nobody signs in as {args['handle']!r}; `schleuse people list` shows everybody")
        return found
