"""Audited calls, their checkpoints, and rejected rows in console_db."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from asyncpg import Record
from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from schemas.outward import Checkpoint
from schemas.statements import Signed
from services.console.audit.domain import Head
from services.console.audit.tables import calls
from services.console.tables import rejected_rows
from shared.db import Tx

_ADD_CHECKPOINT = """
INSERT INTO app.audit_checkpoints (size, root, at, statement, signature, key_id, statement_hash, witness, witness_signature, witness_key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING"""
_CHECKPOINT_AT = "SELECT statement_hash FROM app.audit_checkpoints WHERE size = $1"
_BEGIN = "INSERT INTO app.audit_chain DEFAULT VALUES ON CONFLICT DO NOTHING"
_HOLD = "SELECT seq, hash, checkpoint, first_bad FROM app.audit_chain FOR UPDATE SKIP LOCKED"
_KEEP = """
UPDATE app.audit_chain SET seq = $1, hash = $2, checkpoint = $3, first_bad = $4, reason = $5, looked_at = clock_timestamp(),
  recounting = recounting AND NOT $6, milliseconds = milliseconds + CASE WHEN recounting THEN $7::bigint ELSE 0 END"""
_AFRESH = """
UPDATE app.audit_chain SET seq = -1, hash = repeat('0', 64), checkpoint = 0, first_bad = NULL, reason = '', recounting = true,
  began_at = clock_timestamp(), milliseconds = 0 WHERE NOT recounting"""


async def add_calls(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    await tx.execute(insert(calls).values(list(rows)).on_conflict_do_nothing())


async def add_checkpoint(tx: Tx, checkpoint: Checkpoint, signed: Signed, witness: Signed) -> str:
    """Hash of the statement that is kept for this size: of this one, or of one that came before."""
    row = (
        checkpoint.size,
        checkpoint.root,
        checkpoint.at,
        signed.payload,
        signed.signature,
        signed.key_id,
        signed.hash,
    )
    await tx.raw.execute(_ADD_CHECKPOINT, *row, witness.payload, witness.signature, witness.key_id)
    return str(await tx.raw.fetchval(_CHECKPOINT_AT, checkpoint.size))


async def begin_chain(tx: Tx) -> None:
    await tx.raw.execute(_BEGIN)


async def hold_chain(tx: Tx) -> Record | None:
    """Where checking stands, for this transaction alone; None while another one goes on with it."""
    return await tx.raw.fetchrow(_HOLD)


async def keep_chain(
    tx: Tx, head: Head, checkpoint: int, bad: tuple[int, str] | None, milliseconds: int, *, done: bool
) -> None:
    first_bad, reason = bad or (None, "")
    await tx.raw.execute(_KEEP, head.seq, head.hash, checkpoint, first_bad, reason, done, milliseconds)


async def check_afresh(tx: Tx) -> None:
    await tx.raw.execute(_AFRESH)


async def add_rejected_row(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(rejected_rows).values(row).on_conflict_do_nothing())


async def mark_seen(tx: Tx, event_id: UUID, name: str) -> None:
    await tx.execute(update(rejected_rows).where(rejected_rows.c.event_id == event_id).values(seen_by=name))
