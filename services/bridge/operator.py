"""What the operator may ask the lock. Reading only: nothing here decides (S12)."""

from typing import Any
from uuid import UUID

from services.bridge import store, views
from services.bridge.gate import DecisionKeys
from services.bridge.usecases.verify_gate import verify_gate
from shared.db import Database
from shared.operator import Verb
from shared.outbox.hops import HopDesk
from shared.signing import PublicKeys


class Desk:
    """Verbs: gate.verify, gate.entries, hops, policies.list, keys.list, crossings.list, items.states."""

    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys
        self._hops = HopDesk(db, "bridge")

    @property
    def verbs(self) -> dict[str, Verb]:
        return {
            "gate.verify": self.verify,
            "gate.entries": self.entries,
            "hops": self.hops,
            "policies.list": self.policies,
            "keys.list": self.keys,
            "crossings.list": self.crossings,
            "items.states": self.states,
        }

    async def verify(self, _: dict[str, Any]) -> dict[str, Any]:
        """The whole chain, recomputed from its bytes."""
        async with self._db.reading() as tx:
            DecisionKeys(self._keys).learn((await store.rules(tx)).keys)
        return await verify_gate(self._db, self._keys)

    async def entries(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"item_id"} -> {"entries": [{"seq", "kind", "at"}]}."""
        async with self._db.reading() as tx:
            return {"entries": await views.gate_times(tx, UUID(args["item_id"]))}

    async def hops(self, args: dict[str, Any]) -> dict[str, Any]:
        """What every service answers, with the times at which entries of the gate's log were sealed."""
        found = await self._hops.hops(args)
        sealed = (await self.entries(args))["entries"]
        found["hops"] += [
            {"event": f"gate.{each['kind']}", "service": "bridge", "step": "sealed", "at": each["at"]}
            | {"trace_id": "", "subject": f"entry {each['seq']}"}
            for each in sealed
        ]
        return found

    async def policies(self, _: dict[str, Any]) -> dict[str, Any]:
        async with self._db.reading() as tx:
            return {"policies": await views.policies(tx)}

    async def keys(self, _: dict[str, Any]) -> dict[str, Any]:
        """The installation's decision keys, and what was added or revoked since."""
        async with self._db.reading() as tx:
            return {"installed": sorted(self._keys.ids("decision")), "changes": await views.keys(tx)}

    async def crossings(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"item_id"?, "limit"?: 100} -> {"crossings": […]}, newest first."""
        limit = min(int(args.get("limit", 100)), 10_000)
        async with self._db.reading() as tx:
            return {"crossings": await views.crossings(tx, args.get("item_id"), limit)}

    async def states(self, _: dict[str, Any]) -> dict[str, Any]:
        async with self._db.reading() as tx:
            return {"items": await views.items_by_state(tx)}
