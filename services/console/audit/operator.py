"""What the operator may ask about the console's copy of the call audit. Nothing here decides."""

from typing import Any

from services.console.audit.chain import views as chain_views
from services.console.audit.usecases.verify_copy import verify_copy
from shared.db import Database
from shared.operator import Verb
from shared.signing import PublicKeys

MOST = 20_000


class CopyDesk:
    """Verbs: audit.verify, audit.blocks, audit.hashes, audit.checkpoints."""

    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys

    @property
    def verbs(self) -> dict[str, Verb]:
        return {
            "audit.verify": self.verify,
            "audit.blocks": self.blocks,
            "audit.hashes": self.hashes,
            "audit.checkpoints": self.checkpoints,
        }

    async def verify(self, _: dict[str, Any]) -> dict[str, Any]:
        return await verify_copy(self._db, self._keys)

    async def blocks(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"blocks": [[block, entries, newest, digest]]} of the hashes that came with the entries."""
        async with self._db.reading() as tx:
            return {"blocks": [list(row) for row in await chain_views.blocks(tx)]}

    async def hashes(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"block"} -> {"hashes": [[number, hash or None]]}."""
        first = int(args["block"]) * chain_views.BLOCK
        async with self._db.reading() as tx:
            return {"hashes": await chain_views.hashes(tx, first, first + chain_views.BLOCK - 1)}

    async def checkpoints(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"after": size, "limit"?} -> {"checkpoints": [[size, root, statement's hash]]}."""
        limit = min(int(args.get("limit", MOST)), MOST)
        async with self._db.reading() as tx:
            rows = await chain_views.checkpoints_after(tx, int(args.get("after", 0)), limit)
        return {"checkpoints": [[row["size"], row["root"], row["statement_hash"]] for row in rows]}
