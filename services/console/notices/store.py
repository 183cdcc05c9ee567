"""Notices in console_db. Plain SQL: a row may be written for every decision that the lock takes."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from services.console.notices.domain import KEPT, Notice
from shared.db import Tx
from shared.ids import new_id

_ADD = """
INSERT INTO app.notices (id, person_id, kind, item_id, text, place, at)
SELECT *, $7::timestamptz FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[])"""
_PRUNE = "DELETE FROM app.notices WHERE id IN (SELECT id FROM app.notices WHERE at < $1 ORDER BY at LIMIT 100)"
_READ = "UPDATE app.notices SET read_at = $2 WHERE person_id = $1 AND read_at IS NULL AND ($3::uuid IS NULL OR id = $3)"
_SETTLED = "UPDATE app.notices SET read_at = $3 WHERE kind = $1 AND place = $2 AND read_at IS NULL"
_FACTS = """
SELECT i.title, r.by_id, r.by_via FROM app.items i LEFT JOIN app.revisions r ON r.item_id = i.item_id AND r.revision = $2
WHERE i.item_id = $1"""
_VERDICT = """
SELECT by_id, by_via, publish_at FROM app.decisions
WHERE item_id = $1 AND revision = $2 AND verdict IN ('approve', 'reject', 'request_changes') AND outcome <> 'refused'
ORDER BY at DESC LIMIT 1"""
_READER = "SELECT claimed_by, title FROM app.items WHERE item_id = $1 AND claimed_until > $2"
_KEEPERS = """
SELECT id::text AS id FROM app.people p WHERE role IN ('owner', 'admin') AND NOT disabled AND NOT EXISTS (
  SELECT FROM app.notices n WHERE n.person_id = p.id::text AND n.kind = 'parked' AND n.read_at IS NULL)"""

_DECIDERS = "SELECT id::text AS id FROM app.people WHERE role IN ('owner', 'admin') AND NOT disabled"


async def add(tx: Tx, told: Sequence[Notice], at: datetime) -> None:
    """Write them, and forget some of what is older than 30 days."""
    columns = [[new_id() for _ in told]]
    rows = [(each.person_id, each.kind, each.item_id, each.text, each.place) for each in told]
    await tx.raw.execute(_ADD, *columns, *(list(column) for column in zip(*rows, strict=True)), at)
    await tx.raw.execute(_PRUNE, at - KEPT)


async def read(tx: Tx, person_id: str, at: datetime, notice: UUID | None = None) -> None:
    """One of the person's notices, or all, were seen."""
    await tx.raw.execute(_READ, person_id, at, notice)


async def settle(tx: Tx, kind: str, place: str, at: datetime) -> None:
    """Nobody needs to look there any more for what this said."""
    await tx.raw.execute(_SETTLED, kind, place, at)


async def facts(tx: Tx, item_id: UUID, revision: int) -> Record | None:
    """title, and by_id and by_via of who submitted that revision."""
    return await tx.raw.fetchrow(_FACTS, item_id, revision)


async def newest_verdict(tx: Tx, item_id: UUID, revision: int) -> Record | None:
    """by_id, by_via and publish_at of the newest verdict on a revision that the lock did not refuse."""
    return await tx.raw.fetchrow(_VERDICT, item_id, revision)


async def reader(tx: Tx, item_id: UUID, at: datetime) -> Record | None:
    """claimed_by and title, when somebody has the item open."""
    return await tx.raw.fetchrow(_READER, item_id, at)


async def keepers(tx: Tx) -> list[str]:
    """Owners and admins who have no unread word about parked events yet."""
    return [row["id"] for row in await tx.raw.fetch(_KEEPERS)]


async def deciders(tx: Tx) -> list[str]:
    """Owners and admins: who decides about the way out."""
    return [row["id"] for row in await tx.raw.fetch(_DECIDERS)]
