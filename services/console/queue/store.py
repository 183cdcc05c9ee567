"""Items, revisions, submissions, claims and decisions in console_db.

What lies between a decision and its page is plain SQL: SQLAlchemy costs 150 µs of CPU a statement.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import case, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.queue.tables import decisions, history, items, revisions, submissions, versions
from shared.db import Tx

_DECIDE = """
WITH v AS (
  INSERT INTO app.versions (key, version) VALUES ($1::text, 1)
  ON CONFLICT (key) DO UPDATE SET version = versions.version + 1 RETURNING version
), d AS (
  INSERT INTO app.decisions (statement_hash, item_id, revision, verdict, by_id, by_name, by_via, reason, key_id, at, publish_at, expire_at, batch,
    undoes, outcome)
  VALUES ($2, $1::text::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'sent')
), i AS (
  UPDATE app.items SET deciding = $2, decided_by = $5, decided_name = $6, decided_at = $10,
    claimed_by = NULL, claimed_name = NULL, claimed_until = NULL, claimed_tab = NULL WHERE item_id = $1::text::uuid
)
SELECT version FROM v
"""
_DECISION = (
    *("statement_hash", "revision", "verdict", "by_id", "by_name", "by_via", "reason", "key_id", "at"),
    *("publish_at", "expire_at", "batch", "undoes"),
)
_LOCK_ITEM = """
SELECT i.*, coalesce((SELECT value FROM app.switches WHERE name = 'publication_mode'), 'review') AS publication_mode,
  coalesce((SELECT value FROM app.switches WHERE name = 'four_eyes'), 'off') AS four_eyes,
  (SELECT r.content FROM app.revisions r WHERE r.item_id = i.item_id AND r.revision = i.revision
    AND position(convert_to('"attachments":[', 'UTF8') IN r.content) > 0) AS attached
FROM app.items i WHERE i.item_id = $1 FOR UPDATE OF i"""
_COMMENTS_OUT = """
SELECT * FROM app.items WHERE about = $1 AND (published_revision IS NOT NULL OR scheduled_revision IS NOT NULL) ORDER BY item_id FOR UPDATE"""
_SETTLE = """
UPDATE app.decisions SET outcome = $2, outcome_reason = $3, outcome_at = $4 WHERE statement_hash = $1 AND outcome = 'sent'"""
_MOVE_REVISION = """
UPDATE app.revisions SET state = $3 WHERE item_id = $1 AND revision = $2 AND NOT EXISTS (
  SELECT FROM app.item_history h WHERE h.item_id = $1 AND h.revision = $2 AND h.version > $4)"""
_UNDO_OF = """
SELECT statement_hash FROM app.decisions WHERE undoes = $1 AND by_id = $2 AND outcome <> 'refused' ORDER BY at DESC LIMIT 1"""
_ABOUT = """
SELECT i.item_id, i.title FROM app.decisions d JOIN app.items i ON i.item_id = d.item_id WHERE d.statement_hash = $1"""
_OUTCOMES = """
SELECT statement_hash, item_id, outcome, outcome_reason FROM app.decisions WHERE statement_hash = ANY ($1::text[])"""


async def lock_item(tx: Tx, item_id: UUID) -> dict[str, Any] | None:
    """The item, locked, with the switches that bear on a decision. `attached`: its newest content, where that names attachments."""
    row = await tx.raw.fetchrow(_LOCK_ITEM, item_id)
    return dict(row) if row else None


async def comments_out(tx: Tx, item_id: UUID) -> list[dict[str, Any]]:
    """Comments about an item that are public or wait for their time, locked."""
    return [dict(row) for row in await tx.raw.fetch(_COMMENTS_OUT, item_id)]


async def next_version(tx: Tx, key: str) -> int:
    """The number of the next fact that this service states about an aggregate; locks the aggregate."""
    row = insert(versions).values(key=key, version=1)
    more = row.on_conflict_do_update(index_elements=["key"], set_={"version": versions.c.version + 1})
    return int(await tx.value(more.returning(versions.c.version)))


async def add_submission(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(submissions).values(row))


async def settle_submission(tx: Tx, submission_id: UUID, **fields: Any) -> None:
    await tx.execute(update(submissions).where(submissions.c.submission_id == submission_id).values(**fields))


async def record_decision(tx: Tx, item_id: UUID, row: Mapping[str, Any]) -> int:
    """Keep the decision, mark the item as being decided; the number of this fact in the item's history here."""
    return int(await tx.raw.fetchval(_DECIDE, str(item_id), *(row.get(name) for name in _DECISION)))


async def last_decision(tx: Tx, item_id: UUID, revision: int) -> RowMapping | None:
    found = select(decisions).where(decisions.c.item_id == item_id, decisions.c.revision == revision)
    return await tx.row(found.order_by(decisions.c.at.desc()).limit(1))


async def settle_decision(tx: Tx, statement_hash: str, outcome: str, reason: str | None, at: datetime) -> None:
    """The lock has answered; the item is no longer being decided."""
    await tx.raw.execute(_SETTLE, statement_hash, outcome, reason, at)
    if outcome == "applied":
        await tx.raw.execute("UPDATE app.items SET deciding = NULL WHERE deciding = $1", statement_hash)


async def undo_deciding(tx: Tx, statement_hash: str) -> UUID | None:
    """The lock refused: the item waits again. Its id, or None when it was not marked by this statement.

    Who decided is forgotten only if that was this decision: another one may have been faster.
    """
    mine = items.c.deciding == statement_hash
    its_time = select(decisions.c.at).where(decisions.c.statement_hash == statement_hash).scalar_subquery()
    forget = update(items).where(mine, items.c.decided_at == its_time)
    await tx.execute(forget.values(decided_by=None, decided_name=None, decided_at=None))
    found: UUID | None = await tx.value(update(items).where(mine).values(deciding=None).returning(items.c.item_id))
    return found


async def put_revision(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(revisions).values(row).on_conflict_do_nothing())


async def put_item(tx: Tx, row: dict[str, Any]) -> bool:
    """Insert the item or bring it to a newer version; False when what is held is as new."""
    fresh = insert(items).values(row)
    changed: dict[str, Any] = {name: fresh.excluded[name] for name in row if name != "item_id"}
    changed |= {"verdict_hash": None, "deciding": None, "decided_by": None, "decided_name": None, "decided_at": None}
    newer = fresh.on_conflict_do_update(
        index_elements=["item_id"], set_=changed, where=items.c.version < fresh.excluded.version
    )
    return await tx.value(newer.returning(items.c.item_id)) is not None


async def add_history(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(history).values(row).on_conflict_do_nothing())


async def is_known(tx: Tx, item_id: UUID) -> bool:
    return bool(await tx.raw.fetchval("SELECT EXISTS (SELECT FROM app.items WHERE item_id = $1)", item_id))


async def move_revision(tx: Tx, item_id: UUID, revision: int, state: str, version: int) -> None:
    """Unless a later fact about this revision is known already."""
    await tx.raw.execute(_MOVE_REVISION, item_id, revision, state, version)


async def move_item(tx: Tx, item_id: UUID, version: int, fields: dict[str, Any], revision: int) -> None:
    """`fields` apply when the item is older than `version`; state and decider only if `revision` is its newest."""
    newest = {"state", "decided_by", "decided_name", "decided_at"}
    if "verdict_hash" in fields:
        fields["verdict_hash"] = case((items.c.revision == revision, fields["verdict_hash"]), else_=None)
    always = {name: value for name, value in fields.items() if name not in newest}
    older = (items.c.item_id == item_id) & (items.c.version < version)
    if len(always) < len(fields):
        only = {name: value for name, value in fields.items() if name in newest}
        await tx.execute(update(items).where(older, items.c.revision == revision).values(**only))
    await tx.execute(update(items).where(older).values(version=version, **always))


async def apply_on_site(tx: Tx, item_id: UUID, gate_seq: int, fields: dict[str, Any]) -> RowMapping | None:
    """What the site reports; the item's title, place and decision time, or None when a newer report is held."""
    newer = or_(items.c.applied_seq.is_(None), items.c.applied_seq < gate_seq)
    done = update(items).where(items.c.item_id == item_id, newer).values(applied_seq=gate_seq, **fields)
    return await tx.row(done.returning(items.c.item_id, items.c.kind, items.c.lang, items.c.path, items.c.state))


async def decision(tx: Tx, statement_hash: str | None) -> RowMapping | None:
    return await tx.row(select(decisions).where(decisions.c.statement_hash == statement_hash))


async def undo_of(tx: Tx, statement_hash: str, person_id: str) -> str | None:
    """The person's own undo of a decision, sent or applied."""
    found: str | None = await tx.raw.fetchval(_UNDO_OF, statement_hash, person_id)
    return found


async def about(tx: Tx, statement_hash: str) -> tuple[str, str]:
    """Item id and title of what a decision was about; empty when there is none."""
    row = await tx.raw.fetchrow(_ABOUT, statement_hash)
    return (str(row["item_id"]), row["title"]) if row else ("", "")


async def mark_undone(tx: Tx, statement_hash: str, person_id: str, name: str, at: datetime) -> None:
    """The lock has taken a decision back."""
    mine = update(decisions).where(decisions.c.statement_hash == statement_hash)
    await tx.execute(mine.values(undone_at=at, undone_by=person_id, undone_name=name))


async def approved_at(tx: Tx, item_id: UUID, revision: int | None) -> datetime | None:
    found = select(decisions.c.at).where(
        decisions.c.item_id == item_id, decisions.c.revision == revision, decisions.c.verdict == "approve"
    )
    at: datetime | None = await tx.value(found.order_by(decisions.c.at.desc()).limit(1))
    return at


async def outcomes(tx: Tx, hashes: list[str]) -> list[dict[str, Any]]:
    """statement_hash, item_id, outcome and outcome_reason of each."""
    return [dict(row) for row in await tx.raw.fetch(_OUTCOMES, hashes)]


async def submission_states(tx: Tx, ids: list[UUID]) -> list[RowMapping]:
    return list(await tx.rows(select(submissions).where(submissions.c.submission_id.in_(ids))))
