"""A conversation's action cards, for the pages of their owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from services.agent.owners.domain import Me
from shared.db import Database

_OF = """SELECT c.card_id, c.tool, c.requested_at, coalesce(e.state, 'waiting') AS state, coalesce(e.reason, '') AS reason,
    d.verdict, r.card_id IS NOT NULL AS revoked
  FROM core.action_cards c
  LEFT JOIN core.action_ends e USING (owner_kind, owner_id, card_id)
  LEFT JOIN core.action_decisions d USING (owner_kind, owner_id, card_id)
  LEFT JOIN core.action_revocations r USING (owner_kind, owner_id, card_id)
  WHERE c.owner_kind = $1 AND c.owner_id = $2 AND ($3::uuid IS NULL OR c.conversation_id = $3)
  ORDER BY c.requested_at DESC LIMIT 100"""


@dataclass(frozen=True)
class Waiting:
    """`state`: waiting, allowed, done, failed, refused, expired, or (an automation) revoked."""

    card_id: UUID
    tool: str
    state: str
    reason: str
    requested_at: datetime


async def cards_of(db: Database, me: Me, conversation_id: UUID | None = None) -> Sequence[Waiting]:
    """The newest first; nothing for a guest."""
    if me.is_guest:
        return ()
    async with db.owned(me.owner) as tx:
        rows = await tx.raw.fetch(_OF, me.owner.kind, me.owner.id, conversation_id)
    return [Waiting(row["card_id"], row["tool"], _state(row), row["reason"], row["requested_at"]) for row in rows]  # fmt: skip


def _state(row: Record) -> str:
    if row["revoked"]:
        return "revoked"
    return "allowed" if row["state"] == "waiting" and row["verdict"] == "allow" else str(row["state"])
