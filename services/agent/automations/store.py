"""Statements on automations. Those of an owner run where the transaction acts for them, and say so once more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from asyncpg import Record

from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from shared.db import Tx

State = Literal["", "active", "paused", "ended"]
_MINE = "owner_kind = $1 AND owner_id = $2"
_KEEP = """
INSERT INTO core.automation_delegations AS old (owner_kind, owner_id, card_id, statement, signature, key_id, issued_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (owner_kind, owner_id, card_id) DO UPDATE SET
  (statement, signature, key_id, issued_at, expires_at) =
  (excluded.statement, excluded.signature, excluded.key_id, excluded.issued_at, excluded.expires_at)
WHERE old.issued_at < excluded.issued_at"""
_DELEGATION = f"SELECT statement, signature, key_id FROM core.automation_delegations WHERE {_MINE} AND card_id = $3"  # noqa: S608
_DROP = f"DELETE FROM core.automation_delegations WHERE {_MINE} AND card_id = $3"  # noqa: S608
_ADD_PLACE = (
    "INSERT INTO app.automation_places (card_id, owner_kind, owner_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
)
_OPEN = "SELECT * FROM app.automation_places WHERE state <> 'ended' ORDER BY owner_kind, owner_id, card_id"
_HOLD = "SELECT * FROM app.automation_places WHERE card_id = $1 AND state <> 'ended' FOR UPDATE"
_PUT = """UPDATE app.automation_places SET state = $2, reason = $3, next_at = $4, task_id = $5, instruction_hash = $6, version = version + 1
  WHERE card_id = $1 RETURNING version"""
_UNKNOWN = """SELECT EXISTS (SELECT FROM app.automation_places
  WHERE card_id = $1 AND made_at < $2 AND (looked_at IS NULL OR looked_at < $2))"""
_LOOKED = "UPDATE app.automation_places SET looked_at = clock_timestamp() WHERE card_id = $1"
_NEVER = "DELETE FROM app.automation_places WHERE card_id = $1"
_TASK = f"""SELECT task_id, state, reason, zone, next_at, instruction_hash,
  EXISTS (SELECT FROM app.open_runs r WHERE r.task_id = t.task_id) AS busy FROM core.tasks t WHERE {_MINE} AND card_id = $3"""  # noqa: S608
_LAST = f"""SELECT state, error FROM core.task_runs WHERE {_MINE} AND task_id = $3 AND nominal_at < $4
  AND state IN ('done', 'failed', 'interrupted') ORDER BY nominal_at DESC LIMIT 1"""  # noqa: S608
_TALKS = f"""SELECT conversation_id FROM core.task_runs WHERE {_MINE} AND task_id = $3 AND conversation_id IS NOT NULL
  AND ended_at IS NOT NULL ORDER BY nominal_at DESC OFFSET $4 LIMIT 5"""  # noqa: S608
_UNDER_WAY = """SELECT r.conversation_id FROM core.task_runs r JOIN core.tasks t USING (owner_kind, owner_id, task_id)
  WHERE r.owner_kind = $1 AND r.owner_id = $2 AND t.card_id = $3 AND r.state = 'running' AND r.conversation_id IS NOT NULL"""


@dataclass(frozen=True)
class Place:
    """Whose automation it is, by its card, and what the console was last told."""

    card_id: UUID
    owner: Owner
    version: int
    state: State
    reason: str
    next_at: datetime | None
    task_id: UUID | None
    instruction_hash: str | None
    made_at: datetime


async def keep_delegation(tx: Tx, found: Delegation, signed: Signed) -> None:
    """An older one replaces nothing."""
    owner, said = found.owner, (signed.payload, signed.signature, signed.key_id)
    await tx.raw.execute(_KEEP, owner.kind, owner.id, found.card_id, *said, found.issued_at, found.expires_at)


async def delegation(tx: Tx, owner: Owner, card_id: UUID) -> Signed | None:
    row = await tx.raw.fetchrow(_DELEGATION, owner.kind, owner.id, card_id)
    return None if row is None else Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])


async def drop_delegation(tx: Tx, owner: Owner, card_id: UUID) -> None:
    await tx.raw.execute(_DROP, owner.kind, owner.id, card_id)


async def add_place(tx: Tx, card_id: UUID, owner: Owner) -> None:
    await tx.raw.execute(_ADD_PLACE, card_id, owner.kind, owner.id)


async def open_places(tx: Tx) -> Sequence[Place]:
    """Of all that have not ended."""
    return [_place(row) for row in await tx.raw.fetch(_OPEN)]


async def hold_place(tx: Tx, card_id: UUID) -> Place | None:
    """Others who would move it wait; None when it has ended."""
    row = await tx.raw.fetchrow(_HOLD, card_id)
    return None if row is None else _place(row)


async def put_place(
    tx: Tx, card_id: UUID, state: State, reason: str, next_at: datetime | None, task_id: UUID, instruction_hash: str
) -> int:
    """How often the console was told, this time included."""
    return int(await tx.raw.fetchval(_PUT, card_id, state, reason, next_at, task_id, instruction_hash))


async def is_unknown(tx: Tx, card_id: UUID, restored_at: datetime) -> bool:
    """Whether it is of a backup, and nobody has been asked about it since that was restored."""
    return bool(await tx.raw.fetchval(_UNKNOWN, card_id, restored_at))


async def looked(tx: Tx, card_id: UUID) -> None:
    await tx.raw.execute(_LOOKED, card_id)


async def drop_place(tx: Tx, card_id: UUID) -> None:
    await tx.raw.execute(_NEVER, card_id)


async def task_of(tx: Tx, owner: Owner, card_id: UUID) -> Record | None:
    """task_id, state, reason, zone, next_at, instruction_hash, and whether a run is under way (busy)."""
    return await tx.raw.fetchrow(_TASK, owner.kind, owner.id, card_id)


async def run_before(tx: Tx, owner: Owner, task_id: UUID, nominal_at: datetime) -> Record | None:
    """state and error of the run before that one."""
    return await tx.raw.fetchrow(_LAST, owner.kind, owner.id, task_id, nominal_at)


async def older_talks(tx: Tx, owner: Owner, task_id: UUID, kept: int) -> list[UUID]:
    """Some conversations of runs that are older than the newest `kept`."""
    rows = await tx.raw.fetch(_TALKS, owner.kind, owner.id, task_id, kept)
    return [row["conversation_id"] for row in rows]


async def under_way(tx: Tx, owner: Owner, card_id: UUID) -> list[UUID]:
    """Conversations in which a run of it answers now."""
    return [row["conversation_id"] for row in await tx.raw.fetch(_UNDER_WAY, owner.kind, owner.id, card_id)]


def _place(row: Record) -> Place:
    owner = Owner(kind=row["owner_kind"], id=row["owner_id"])
    said = (row["version"], row["state"], row["reason"], row["next_at"], row["task_id"], row["instruction_hash"])
    return Place(row["card_id"], owner, *said, row["made_at"])
