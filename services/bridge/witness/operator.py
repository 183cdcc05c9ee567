"""What the operator may ask the lock about the call audit. Reading only."""

from typing import Any

from asyncpg import Record

from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from services.bridge.witness import store
from shared.db import Database
from shared.errors import BadSignature
from shared.operator import Verb
from shared.signing import PublicKeys

MOST = 20_000


class WitnessDesk:
    """Verbs: audit.checkpoints, audit.blocks, audit.hashes."""

    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"audit.checkpoints": self.checkpoints, "audit.blocks": self.blocks, "audit.hashes": self.hashes}

    async def checkpoints(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"after": size, "limit"?} -> {"checkpoints": [[size, root, statement's hash]], "faults": [[size, reason]]}: kept, with both signatures verified."""
        limit = min(int(args.get("limit", MOST)), MOST)
        async with self._db.reading() as tx:
            rows = await store.checkpoints_after(tx, int(args.get("after", 0)), limit)
        faults = [(row["size"], fault) for row in rows if (fault := fault_of(row, self._keys))]
        return {"checkpoints": [[row["size"], row["root"], row["statement_hash"]] for row in rows], "faults": faults}

    async def blocks(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"blocks": [[block, entries, newest, digest]]} of the hashes with which entries crossed."""
        async with self._db.reading() as tx:
            return {"blocks": [list(row) for row in await store.crossed_blocks(tx)]}

    async def hashes(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"block"} -> {"hashes": [[number, hash or None]]}."""
        first = int(args["block"]) * store.BLOCK
        async with self._db.reading() as tx:
            return {"hashes": await store.crossed_hashes(tx, first, first + store.BLOCK - 1)}


def fault_of(row: Record, keys: PublicKeys) -> str:
    """Why a kept checkpoint is not what both signed, or an empty text."""
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    countersigned = Signed(payload=row["witness"], signature=row["witness_signature"], key_id=row["witness_key_id"])
    try:
        said, seen = keys.verify("audit", signed, Checkpoint), keys.verify("witness", countersigned, Witness)
    except BadSignature as error:
        return error.message
    stated = (row["size"], row["root"])
    if (said.size, said.root) != stated or (seen.checkpoint_hash, seen.size, seen.root) != (signed.hash, *stated):
        return "its columns do not say what was signed"
    return ""
