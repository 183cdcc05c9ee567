"""The agent's proposals in console_db."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.agent.v1 import Wish
from services.console.proposals.domain import About, State
from shared.db import Tx

MOST = 200
_ADD = """INSERT INTO app.proposals (proposal_id, about, app_slug, title, body, owner_kind, owner_id, owner_name, conversation_id, turn_id, why, sources, at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING proposal_id"""
_WAITING = f"SELECT * FROM app.proposals WHERE state = 'waiting' AND ($1::text IS NULL OR owner_id = $1) ORDER BY at LIMIT {MOST}"  # noqa: S608 - a number of ours
_SETTLED = f"SELECT * FROM app.proposals WHERE state <> 'waiting' AND ($1::text IS NULL OR owner_id = $1) ORDER BY at DESC LIMIT {MOST}"  # noqa: S608 - a number of ours
_COUNT = "SELECT count(*) FROM app.proposals WHERE state = 'waiting' AND ($1::text IS NULL OR owner_id = $1)"
_MOVE = """UPDATE app.proposals SET state = $2, reason = $3, version = version + 1,
    decided_by = coalesce($4, decided_by), decided_by_id = coalesce($5, decided_by_id), decided_at = CASE WHEN $4 IS NULL THEN decided_at ELSE $6 END
  WHERE proposal_id = $1 RETURNING version"""
_DECIDERS = "SELECT id::text AS id FROM app.people WHERE role IN ('owner', 'admin') AND NOT disabled"


async def add(tx: Tx, wish: Wish, about: About, app: str, title: str, body: str) -> bool:
    """False when it was there already."""
    whose = (wish.owner.kind, wish.owner.id, wish.owner_name, wish.conversation_id, wish.turn_id)
    sources = json.dumps(list(wish.sources), ensure_ascii=False)
    said = await tx.raw.fetchval(_ADD, wish.proposal_id, about, app, title, body, *whose, wish.why, sources, wish.at)
    return said is not None


async def one(tx: Tx, proposal_id: UUID, *, lock: bool = False) -> Record | None:
    """`lock`: nobody else answers it until the transaction ends."""
    held = " FOR UPDATE" if lock else ""
    return await tx.raw.fetchrow(f"SELECT * FROM app.proposals WHERE proposal_id = $1{held}", proposal_id)  # noqa: S608 - our own words


async def waiting(tx: Tx, owner_id: str | None = None) -> Sequence[Record]:
    """The oldest first; of one owner, or all."""
    found: Sequence[Record] = await tx.raw.fetch(_WAITING, owner_id)
    return found


async def settled(tx: Tx, owner_id: str | None = None) -> Sequence[Record]:
    """The newest first."""
    found: Sequence[Record] = await tx.raw.fetch(_SETTLED, owner_id)
    return found


async def count_waiting(tx: Tx, owner_id: str | None = None) -> int:
    return int(await tx.raw.fetchval(_COUNT, owner_id))


async def move(tx: Tx, proposal_id: UUID, state: State, reason: str, at: datetime, by: tuple[str, str] | None = None) -> int:  # fmt: skip
    """Its new version, the number of what the agent is told. `by`: the name and id of the person who decided; None: nobody did just now."""
    name, who = by or (None, None)
    return int(await tx.raw.fetchval(_MOVE, proposal_id, state, reason, name, who, at))


async def deciders(tx: Tx) -> list[str]:
    """Owners and admins: who decides on new apps and jobs (rule 28)."""
    return [row["id"] for row in await tx.raw.fetch(_DECIDERS)]
