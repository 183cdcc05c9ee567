"""What the operator may ask about the call audit. Nothing here changes an entry."""

from typing import Any

from services.connectors.audit import store, views
from services.connectors.audit.checkpoints import Checkpoints
from services.connectors.audit.domain import Note
from services.connectors.audit.query import read_query
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.search_audit import search_audit
from services.connectors.audit.usecases.verify_audit import BLOCK, verify_audit
from shared.db import Database
from shared.ids import new_id
from shared.operator import Verb
from shared.signing import PublicKeys

MOST_EXPORTED = 5000
"""Entries of one answer."""


class AuditDesk:
    """Verbs: calls.record, audit.verify, audit.search, audit.hashes, audit.checkpoints, audit.checkpoint."""

    def __init__(self, db: Database, keys: PublicKeys, signer: Checkpoints) -> None:
        self._db, self._keys, self._signer = db, keys, signer

    @property
    def verbs(self) -> dict[str, Verb]:
        return {
            "calls.record": self.record,
            "audit.verify": self.verify,
            "audit.search": self.search,
            "audit.hashes": self.hashes,
            "audit.checkpoints": self.checkpoints,
            "audit.checkpoint": self.checkpoint,
        }

    async def record(self, args: dict[str, Any]) -> dict[str, Any]:
        """Append a self-check entry; fields of Note may be given. {"entry_id"}."""
        said = {"asker": "operator", "connector": "self_check", "operation": "ping", "target": "localhost"}
        said |= {"outcome": "noted", "status": "no call was made"}
        note = Note(call_id=new_id(), **(said | args))
        async with self._db.transaction() as tx:
            (entry,) = await record_notes(tx, [note])
        return {"entry_id": str(entry.entry_id)}

    async def verify(self, _: dict[str, Any]) -> dict[str, Any]:
        return await verify_audit(self._db, self._keys)

    async def search(self, args: dict[str, Any]) -> dict[str, Any]:
        return await search_audit(self._db, read_query(args, MOST_EXPORTED))

    async def hashes(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"block"} -> {"hashes": [[number, hash]]}: those that stand in the table."""
        first = int(args["block"]) * BLOCK
        async with self._db.reading() as tx:
            return {"hashes": await views.hashes(tx, first, first + BLOCK - 1)}

    async def checkpoint(self, _: dict[str, Any]) -> dict[str, Any]:
        """Sign one now, if there is something to sign. {"size"}: of the newest."""
        await self._signer.sign()
        async with self._db.reading() as tx:
            row = await store.newest_checkpoint(tx)
        return {"size": 0 if row is None else row["size"]}

    async def checkpoints(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"after": size, "limit"?} -> {"checkpoints": [[size, root, statement's hash]]}."""
        limit = min(int(args.get("limit", 20_000)), 20_000)
        async with self._db.reading() as tx:
            rows = await views.checkpoints_after(tx, int(args.get("after", 0)), limit)
        return {"checkpoints": [[row["size"], row["root"], row["statement_hash"]] for row in rows]}
