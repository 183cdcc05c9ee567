"""After a restore: keys from before it end, for one that was revoked since the backup would open again, and nobody can tell which."""

from datetime import datetime

from services.console.access import store
from services.console.access.usecases.create_access import state_access
from services.console.identity.issuer import Issuer
from shared.clock import now
from shared.db import Tx

BY = "the restore"


async def end_restored(tx: Tx, issuer: Issuer, restored_at: datetime) -> int:
    """How many ended; none the next time."""
    old = [row for row in await store.listed(tx, now()) if row["created_at"] < restored_at]
    for row in old:
        version = await store.revoke(tx, row["id"], BY, now())
        state_access(tx, issuer, {**row, "version": version}, BY, revoked=True)
    return len(old)
