"""Action cards and decisions on them, in console_db."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.agency import ActionCard
from services.console.actions.domain import bytes_of
from shared.db import Tx

MOST = 200
_ADD = """INSERT INTO app.action_cards (card_id, card, owner_id, requested_at, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING card_id"""
_ALL = """SELECT c.*, s.state, s.reason, s.at AS settled_at, n.verdict, n.by_name, n.reason AS why, n.at, n.outcome, n.outcome_reason
  FROM app.action_cards c LEFT JOIN app.action_states s USING (card_id)
  LEFT JOIN LATERAL (SELECT * FROM app.action_decisions d WHERE d.card_id = c.card_id ORDER BY d.at DESC LIMIT 1) n ON true"""
_OPEN = "s.state IS NULL AND c.expires_at > $1"
_MINE = "($2::text IS NULL OR c.owner_id = $2)"
_WAITING = f"{_ALL} WHERE {_OPEN} AND {_MINE} ORDER BY c.requested_at LIMIT {MOST}"
_SETTLED = f"{_ALL} WHERE NOT ({_OPEN}) AND {_MINE} ORDER BY c.requested_at DESC LIMIT {MOST}"
_COUNT = f"""SELECT count(*) FROM app.action_cards c LEFT JOIN app.action_states s USING (card_id)
  WHERE {_OPEN} AND {_MINE}"""  # noqa: S608 - our own words
_STATE = """INSERT INTO app.action_states AS old (card_id, state, reason, at, version) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (card_id) DO UPDATE SET (state, reason, at, version) = (excluded.state, excluded.reason, excluded.at, excluded.version)
  WHERE old.version < excluded.version"""
_DECIDE = """INSERT INTO app.action_decisions (statement_hash, card_id, verdict, by_id, by_name, by_via, reason, at, outcome)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'sent')"""
_ANSWER = """UPDATE app.action_decisions SET outcome = $2, outcome_reason = $3
  WHERE statement_hash = $1 AND outcome = 'sent' RETURNING card_id"""


async def add(tx: Tx, card: ActionCard) -> bool:
    """False when it was there already."""
    about = (card.card_id, bytes_of(card), card.owner.id, card.requested_at, card.expires_at)
    return await tx.raw.fetchval(_ADD, *about) is not None


async def one(tx: Tx, card_id: UUID, *, lock: bool = False) -> Record | None:
    """card, state (None: the agent has not said), reason, settled_at, and the newest decision; `lock` keeps others from deciding meanwhile."""
    if lock:
        await tx.raw.fetchrow("SELECT FROM app.action_cards WHERE card_id = $1 FOR UPDATE", card_id)
    return await tx.raw.fetchrow(f"{_ALL} WHERE c.card_id = $1", card_id)


async def waiting(tx: Tx, present: datetime, owner_id: str | None = None) -> Sequence[Record]:
    """Those of which nothing has become yet, the oldest first; of one owner, or of all."""
    found: Sequence[Record] = await tx.raw.fetch(_WAITING, present, owner_id)
    return found


async def settled(tx: Tx, present: datetime, owner_id: str | None = None) -> Sequence[Record]:
    """The others, the newest first."""
    found: Sequence[Record] = await tx.raw.fetch(_SETTLED, present, owner_id)
    return found


async def count_waiting(tx: Tx, present: datetime, owner_id: str | None = None) -> int:
    return int(await tx.raw.fetchval(_COUNT, present, owner_id))


async def put_state(tx: Tx, card_id: UUID, state: str, reason: str, at: datetime, version: int) -> None:
    """The agent's newest word; an older one changes nothing. It may come before the card itself."""
    await tx.raw.execute(_STATE, card_id, state, reason, at, version)


async def add_decision(tx: Tx, statement_hash: str, card_id: UUID, verdict: str, by: tuple[str, str, str], reason: str, at: datetime) -> None:  # fmt: skip
    """`by`: id, name, and by which way."""
    await tx.raw.execute(_DECIDE, statement_hash, card_id, verdict, *by, reason, at)


async def answer(tx: Tx, statement_hash: str, outcome: str, reason: str | None = None) -> UUID | None:
    """The card, when a decision with that statement waited for an answer."""
    found: UUID | None = await tx.raw.fetchval(_ANSWER, statement_hash, outcome, reason)
    return found


async def decision(tx: Tx, statement_hash: str) -> Record | None:
    return await tx.raw.fetchrow("SELECT * FROM app.action_decisions WHERE statement_hash = $1", statement_hash)


async def decisions(tx: Tx, card_id: UUID) -> Sequence[Record]:
    """On one card, in their order."""
    found: Sequence[Record] = await tx.raw.fetch("SELECT * FROM app.action_decisions WHERE card_id = $1 ORDER BY at", card_id)  # fmt: skip
    return found
