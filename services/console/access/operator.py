"""The operator's commands on keys of the agent's API (S12): recorded as `operator`. People are named by what they sign in with."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from services.console.access import store
from services.console.access.domain import Wanted, check_kind
from services.console.access.usecases.create_access import create_access
from services.console.access.usecases.revoke_access import revoke_access
from services.console.forms import as_uuid
from services.console.parts import Console
from services.console.people import views
from services.console.people.domain import OPERATOR, check_role, narrower
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.telemetry import span

Args = dict[str, Any]


class AccessOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "access.create": self.create,
            "access.list": self.listed,
            "access.revoke": self.revoke,
        }

    async def create(self, args: Args) -> Args:
        """args {"kind", "handle", "name"?, "role"?, "seconds"?} → {"id", "key"}: the key, once."""
        seconds = args.get("seconds")
        wanted = Wanted(
            check_kind(str(args["kind"])),
            str(args.get("name") or "by the operator"),
            str(args.get("role") or ""),
            None if seconds is None else timedelta(seconds=float(seconds)),
        )
        with span("console operator access.create"):
            async with self._console.db.transaction() as tx:
                person_id = await self._find(tx, str(args["handle"]))
                made, key = await create_access(tx, self._console.identity, OPERATOR, person_id, wanted)
        return {"id": str(made), "key": key}

    async def listed(self, args: Args) -> Args:
        """args {"kind"?} → {"keys": [{"id","kind","name","handle","person","role","made_by","created_at","expires_at"}]}, those in force.

        `role`: what it may do now, the narrower of its own and its person's; null: its person is shut out, and it opens nothing."""
        async with self._console.db.reading() as tx:
            rows = await store.listed(tx, now(), args.get("kind") and check_kind(str(args["kind"])))
        return {"keys": [_shown(row) for row in rows]}

    async def revoke(self, args: Args) -> Args:
        """args {"id"} → {"revoked": bool}; false when it was before."""
        access_id: UUID = as_uuid(str(args["id"]))
        with span("console operator access.revoke"):
            async with self._console.db.transaction() as tx:
                return {"revoked": await revoke_access(tx, self._console.identity, OPERATOR, access_id)}

    async def _find(self, tx: Tx, handle: str) -> UUID:
        found = await views.find_person(tx, handle)
        if found is None:
            raise NotFound(f"nobody signs in as {handle!r}; `schleuse people list` shows everybody")
        return found


def _shown(row: Mapping[Any, Any]) -> Args:
    role = None if row["disabled"] else narrower(check_role(row["role"]), check_role(row["person_role"]))
    same = {name: row[name] for name in ("kind", "name", "handle", "made_by")}
    times = {name: row[name].isoformat() if row[name] else None for name in ("created_at", "expires_at")}
    return {"id": str(row["id"])} | same | {"person": row["person_name"], "role": role} | times
