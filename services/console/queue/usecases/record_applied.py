"""The site reports what it shows. `Live since` is read from here, never from hope."""

from typing import Any

from schemas.site.v1 import ItemApplied
from services.console.queue import store
from services.console.queue.domain import milliseconds_live
from shared.clock import now
from shared.db import Tx


async def record_applied(tx: Tx, applied: ItemApplied) -> dict[str, Any] | None:
    """What to tell open pages, or None when a newer report is held: `{item_id, effect, at, ms}`."""
    live = applied.effect == "live"
    fields = {
        "live_revision": applied.revision if live else None,
        "live_since": applied.applied_at if live else None,
        "gone_since": None if live else applied.applied_at,
        "applied_seen_at": now(),
    }
    row = await store.apply_on_site(tx, applied.item_id, applied.gate_seq, fields)
    if row is None:
        return None
    decided_at = await store.approved_at(tx, applied.item_id, applied.revision) if live else None
    ms = milliseconds_live(decided_at, applied.applied_at)
    told = {"item_id": str(applied.item_id), "effect": applied.effect, "at": applied.applied_at.isoformat()}
    return {**told, "ms": None if ms is None else round(ms, 1), "place": f"/{row['kind']}/{row['lang']}/{row['path']}"}
