"""Statements over action cards. Those of an owner run where the transaction acts for them, and say so once more."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.agency import ActionCard
from schemas.outward import Owner
from schemas.statements import Opening, Signed
from schemas.text import canonical
from services.agent.actions.domain import Place, as_found, card_bytes, card_hash
from shared.db import Tx

_ADD = """INSERT INTO core.action_cards
  (owner_kind, owner_id, card_id, conversation_id, turn_id, tool, card, card_hash, requested_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
_PUT = "INSERT INTO app.action_places (card_id, owner_kind, owner_id, expires_at, phase) VALUES ($1, $2, $3, $4, 'waiting')"
_PLACE = "SELECT * FROM app.action_places WHERE card_id = $1"
_MOVE = "UPDATE app.action_places SET phase = $2, by = $3, since = $4 WHERE card_id = $1"
_DUE = """SELECT * FROM app.action_places WHERE phase IN ('decided', 'untold')
  OR (phase = 'waiting' AND expires_at <= $1)
  OR (phase = 'running' AND (since < $2 OR (by = $3 AND since < $4)))
  ORDER BY expires_at LIMIT 8"""
_NEXT = "SELECT min(expires_at) FROM app.action_places WHERE phase = 'waiting'"
_OPEN = """SELECT c.card FROM core.action_cards c JOIN app.action_places p ON p.card_id = c.card_id AND p.phase = 'waiting'
  WHERE c.owner_kind = $1 AND c.owner_id = $2 AND p.expires_at > $3 ORDER BY c.requested_at"""
_CARD = "SELECT card, turn_id, tool FROM core.action_cards WHERE owner_kind = $1 AND owner_id = $2 AND card_id = $3"
_CARDS = "SELECT card FROM core.action_cards WHERE owner_kind = $1 AND owner_id = $2 ORDER BY requested_at"
_DECIDE = """INSERT INTO core.action_decisions (owner_kind, owner_id, card_id, verdict, statement, signature, key_id, opening)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"""
_DECISION = """SELECT statement, signature, key_id, opening FROM core.action_decisions
  WHERE owner_kind = $1 AND owner_id = $2 AND card_id = $3"""
_REVOKE = """INSERT INTO core.action_revocations (owner_kind, owner_id, card_id, statement, signature, key_id, opening)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING card_id"""
_REVOKED = (
    "SELECT EXISTS (SELECT FROM core.action_revocations WHERE owner_kind = $1 AND owner_id = $2 AND card_id = $3)"
)
_BEGIN = """INSERT INTO core.action_runs (owner_kind, owner_id, card_id, part) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING RETURNING card_id"""
_END = """INSERT INTO core.action_ends (owner_kind, owner_id, card_id, state, reason, statement_hash)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING card_id"""
_ENDED = "SELECT state, reason FROM core.action_ends WHERE owner_kind = $1 AND owner_id = $2 AND card_id = $3"
_OF_OWNER = "SELECT * FROM app.action_places WHERE owner_kind = $1 AND owner_id = $2 AND phase <> 'ended' FOR UPDATE"
_FORGET = (
    "DELETE FROM core.action_revocations WHERE owner_kind = $1 AND owner_id = $2",
    "DELETE FROM core.action_decisions WHERE owner_kind = $1 AND owner_id = $2",
    "DELETE FROM core.action_cards WHERE owner_kind = $1 AND owner_id = $2",
    "DELETE FROM app.action_places WHERE owner_kind = $1 AND owner_id = $2",
)
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('actions'), hashtext($1))"


async def lock(tx: Tx, owner: Owner) -> None:
    """Two that ask for the same owner at once come one after the other."""
    await tx.raw.execute(_LOCK, str(owner))


async def add_card(tx: Tx, card: ActionCard, turn_id: UUID) -> None:
    raw, owner = card_bytes(card), card.owner
    about = (card.card_id, card.conversation_id, turn_id, card.tool)
    await tx.raw.execute(_ADD, owner.kind, owner.id, *about, raw, card_hash(raw), card.requested_at, card.expires_at)
    await tx.raw.execute(_PUT, card.card_id, owner.kind, owner.id, card.expires_at)


async def waiting(tx: Tx, owner: Owner, at: datetime) -> list[bytes]:
    """The owner's cards on which nobody has decided, the oldest first."""
    return [row["card"] for row in await tx.raw.fetch(_OPEN, owner.kind, owner.id, at)]


async def place(tx: Tx, card_id: UUID, *, lock: bool = False) -> Place | None:
    """`lock`: others who would move it wait."""
    row = await tx.raw.fetchrow(f"{_PLACE} FOR UPDATE" if lock else _PLACE, card_id)
    return None if row is None else as_found(dict(row))


async def move(tx: Tx, card_id: UUID, phase: str, at: datetime, by: str = "") -> None:
    await tx.raw.execute(_MOVE, card_id, phase, by, at)


async def due(tx: Tx, at: datetime, given_up: datetime, part: str, started: datetime) -> list[Place]:
    """Those with something to do: decided, expired, begun by a process that is gone, or not told yet."""
    return [as_found(dict(row)) for row in await tx.raw.fetch(_DUE, at, given_up, part, started)]


async def next_expiry(tx: Tx) -> datetime | None:
    found: datetime | None = await tx.raw.fetchval(_NEXT)
    return found


async def card(tx: Tx, owner: Owner, card_id: UUID) -> Record | None:
    """card (its bytes), turn_id, tool."""
    return await tx.raw.fetchrow(_CARD, owner.kind, owner.id, card_id)


async def add_decision(tx: Tx, at: Place, verdict: str, signed: Signed, opening: Opening) -> None:
    raw = canonical(opening.model_dump(mode="json"))
    said = (verdict, signed.payload, signed.signature, signed.key_id, raw)
    await tx.raw.execute(_DECIDE, at.owner.kind, at.owner.id, at.card_id, *said)


async def decision(tx: Tx, owner: Owner, card_id: UUID) -> tuple[Signed, Opening] | None:
    row = await tx.raw.fetchrow(_DECISION, owner.kind, owner.id, card_id)
    if row is None:
        return None
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    return signed, Opening.model_validate_json(row["opening"])


async def revoke(tx: Tx, at: Place, signed: Signed, opening: Opening) -> bool:
    """False when it was taken back before."""
    said = (signed.payload, signed.signature, signed.key_id, canonical(opening.model_dump(mode="json")))
    return await tx.raw.fetchval(_REVOKE, at.owner.kind, at.owner.id, at.card_id, *said) is not None


async def is_revoked(tx: Tx, owner: Owner, card_id: UUID) -> bool:
    return bool(await tx.raw.fetchval(_REVOKED, owner.kind, owner.id, card_id))


async def begin(tx: Tx, at: Place, part: str) -> bool:
    """False when it was begun before: it is not begun again."""
    return await tx.raw.fetchval(_BEGIN, at.owner.kind, at.owner.id, at.card_id, part) is not None


async def end(tx: Tx, at: Place, state: str, reason: str, statement_hash: str | None) -> bool:
    """False when it had ended already."""
    how = (state, reason, statement_hash)
    return await tx.raw.fetchval(_END, at.owner.kind, at.owner.id, at.card_id, *how) is not None


async def ended(tx: Tx, owner: Owner, card_id: UUID) -> Record | None:
    """state, reason."""
    return await tx.raw.fetchrow(_ENDED, owner.kind, owner.id, card_id)


async def open_places(tx: Tx, owner: Owner) -> Sequence[Place]:
    return [as_found(dict(row)) for row in await tx.raw.fetch(_OF_OWNER, owner.kind, owner.id)]


async def cards(tx: Tx, owner: Owner) -> list[bytes]:
    """All of the owner's, the oldest first."""
    return [row["card"] for row in await tx.raw.fetch(_CARDS, owner.kind, owner.id)]


async def forget(tx: Tx, owner: Owner) -> int:
    """How many cards. Words go; that something was done, and how it ended, stays."""
    gone = [await tx.raw.execute(statement, owner.kind, owner.id) for statement in _FORGET]
    return int(gone[2].rpartition(" ")[2])
