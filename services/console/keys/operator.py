"""The operator's commands on decision keys (S12). Each returns when the lock has answered."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.keys import store
from services.console.keys.domain import shown_state
from services.console.keys.usecases.revoke_key import revoke_key
from services.console.keys.usecases.rotate_key import rotate_key
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.errors import Conflict, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 60.0


class KeyOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "keys.list": self.listed,
            "keys.rotate": self.rotate,
            "keys.revoke": self.revoke,
        }

    async def listed(self, _: Args) -> Args:
        """{"signing": key id, "keys": [{"key_id","state","public_key","at","refusal"}]}, oldest first."""
        async with self._console.db.reading() as tx:
            held, keys = await store.signing_now(tx), await store.keys(tx)
        assert held is not None, "written before the operator is let in"
        listed = [each._asdict() | {"state": shown_state(each, held), "at": each.at.isoformat()} for each in keys]
        return {"signing": held.key_id, "keys": listed}

    async def rotate(self, args: Args) -> Args:
        """args {"revoke_old"?, "reason"?} → {"signing": new key id, "old": {"key_id", "state"}}."""
        wanted = bool(args.get("revoke_old"))
        with span("console operator keys.rotate"):
            async with self._console.db.transaction() as tx:
                old = (await store.lock_signing(tx)).key_id
                reason = str(args.get("reason") or "")
                new = await rotate_key(tx, self._console.ring, OPERATOR, revoke_old=wanted, reason=reason)
        await self._wait(new, {"signing"})
        state = await self._wait(old, {"revoked"}) if wanted else "retired"
        return {"signing": new, "old": {"key_id": old, "state": state}}

    async def revoke(self, args: Args) -> Args:
        """args {"key_id", "reason"?} → {"revoked": key id}."""
        key_id = str(args["key_id"])
        with span("console operator keys.revoke"):
            async with self._console.db.transaction() as tx:
                await revoke_key(tx, self._console.ring, OPERATOR, key_id, str(args.get("reason") or ""))
        await self._wait(key_id, {"revoked"})
        return {"revoked": key_id}

    async def _wait(self, key_id: str, wanted: set[str]) -> str:
        """The key's state once the lock has answered. Conflict when it said no, Transient when it says nothing."""
        found: Args = {}

        async def look() -> bool:
            listed = (await self.listed({}))["keys"]
            found.update(next(each for each in listed if each["key_id"] == key_id))
            return found["state"] in wanted or found["refusal"] is not None

        answered = await self._console.live.until(look, PATIENCE)
        if found.get("refusal"):
            raise Conflict(f"the lock refused: {found['refusal']}", code="refused")
        if not answered:
            raise Transient(f"the lock has not answered in {PATIENCE:.0f} s; it goes on by itself, see `keys list`")
        return str(found["state"])
