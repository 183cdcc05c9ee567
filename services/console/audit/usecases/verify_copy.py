"""Recompute the whole copy of the call audit at once, for the operator."""

import time
from typing import Any

from services.console.audit import store
from services.console.audit.chain import views as chain_views
from services.console.audit.domain import Head
from services.console.audit.usecases.check_chain import look_on
from shared.db import Database
from shared.signing import PublicKeys


async def verify_copy(db: Database, keys: PublicKeys) -> dict[str, Any]:
    """{"ok", "entries", "first_bad": number or None, "reason", "newest": highest number that has arrived, "seconds"}.

    A copy that was found broken before and is whole now is looked at afresh, so that health and page follow.
    """
    began, head, checkpoint, more = time.monotonic(), Head(), 0, True
    bad: tuple[int, str] | None = None
    while more:
        async with db.reading() as tx:
            head, checkpoint, bad, more = await look_on(tx, head, checkpoint, keys)
    async with db.reading() as tx:
        row = await chain_views.chain(tx)
    if bad is None and row is not None and row["first_bad"] is not None:
        async with db.transaction() as tx:
            await store.check_afresh(tx)
    first_bad, reason = bad or (None, "")
    return {
        "ok": bad is None,
        "entries": head.seq + 1,
        "first_bad": first_bad,
        "reason": reason,
        "newest": -1 if row is None or row["newest"] is None else row["newest"],
        "seconds": round(time.monotonic() - began, 3),
    }
