"""The lock's answer to a change of a share link."""

from schemas.bridge.v1 import LinkApplied
from services.console.links import store
from shared.db import Tx


async def record_link(tx: Tx, applied: LinkApplied) -> None:
    await store.apply(tx, applied.link_id, applied.action, applied.gate_seq, applied.by.name, applied.at)


async def record_link_refused(tx: Tx, statement_hash: str, reason: str) -> bool:
    """False when it was not about a share link."""
    return await store.refuse(tx, statement_hash, reason)
