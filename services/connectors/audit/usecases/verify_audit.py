"""Recompute the call audit from its bytes, and name the first bad entry (rule 17)."""

from typing import Any

from services.connectors.audit import store
from services.connectors.audit.domain import Head, fault_of
from shared.db import Database

_PAGE = 1000


async def verify_audit(db: Database) -> dict[str, Any]:
    """{"ok", "entries", "head": {"seq", "hash"}, "first_bad": seq or None, "reason"}."""
    head, bad, reason = Head(), None, ""
    while bad is None:
        async with db.reading() as tx:
            page = await store.entries_after(tx, head.seq, _PAGE)
        for row in page:
            fault = fault_of(dict(row), head)
            if fault is not None:
                bad, reason = head.seq + 1, fault
                break
            head = Head(row["seq"], row["hash"])
        if len(page) < _PAGE:
            break
    return {
        "ok": bad is None,
        "entries": head.seq + 1,
        "head": {"seq": head.seq, "hash": head.hash},
        "first_bad": bad,
        "reason": reason,
    }
