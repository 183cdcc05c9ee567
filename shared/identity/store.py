"""Statements over the tables of identity, on the transaction's own connection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.statements import Signed, Standing
from shared.db import Tx

_KEEP = """INSERT INTO app.standings AS old
  (subject, version, role, sessions_from, link_hash, until, decided_at, statement, signature, key_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (subject) DO UPDATE SET
    (version, role, sessions_from, link_hash, until, decided_at, statement, signature, key_id) =
    (excluded.version, excluded.role, excluded.sessions_from, excluded.link_hash, excluded.until, excluded.decided_at,
     excluded.statement, excluded.signature, excluded.key_id),
    link_used_at = CASE WHEN old.link_hash IS NOT DISTINCT FROM excluded.link_hash THEN old.link_used_at END
  WHERE old.version < excluded.version RETURNING 1"""
# a session is asked about at every request, so nothing that ended it needs to have reached this process
_FIND = """SELECT s.token_hash, s.subject, s.sid, s.name, s.begun_at, s.renew_at, s.ends_at,
    CASE WHEN st.decided_at > s.begun_at THEN st.role ELSE s.role END AS role
  FROM app.identity_sessions s LEFT JOIN app.standings st ON st.subject = s.subject
  WHERE s.token_hash = ANY($1) AND s.ends_at > $2
    AND (st.subject IS NULL
      OR (st.role IS NOT NULL AND s.begun_at >= st.sessions_from AND (st.until IS NULL OR st.until > $2)))
    AND NOT EXISTS (SELECT 1 FROM app.ended_sign_ins e WHERE e.sid = s.sid)"""
_OVER = """DELETE FROM app.identity_sessions WHERE subject = $1 AND ($2 OR begun_at < $3)"""
_BEGIN = """INSERT INTO app.identity_sessions (token_hash, subject, sid, name, role, begun_at, renew_at, ends_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"""
_TAKE_LINK = """UPDATE app.standings SET link_used_at = $2
  WHERE link_hash = $1 AND link_used_at IS NULL AND role = 'guest' AND until > $2 RETURNING subject, until"""
_CLEAN = (
    "DELETE FROM app.identity_sessions WHERE ends_at < $1",
    "DELETE FROM app.sign_in_codes WHERE made_at < $1::timestamptz - interval '60 seconds'",
    "DELETE FROM app.used_tokens WHERE used_at < $1::timestamptz - interval '10 minutes'",
    "DELETE FROM app.ended_sign_ins WHERE ended_at < $1::timestamptz - interval '1 day'",
)


@dataclass(frozen=True)
class Found:
    """A session that is not over. `role` is the newer of what its token and what the standing says."""

    token_hash: str
    subject: UUID
    sid: UUID | None
    name: str
    role: str
    begun_at: datetime
    renew_at: datetime
    ends_at: datetime


async def keep_standing(tx: Tx, standing: Standing, signed: Signed) -> None:
    """Keep it unless a newer one is held; sessions that it ends are deleted."""
    kept = await tx.raw.fetchval(
        _KEEP,
        standing.subject,
        standing.version,
        standing.role,
        standing.sessions_from,
        standing.link_hash,
        standing.until,
        standing.decided_at,
        signed.payload,
        signed.signature,
        signed.key_id,
    )
    if kept:
        await tx.raw.execute(_OVER, standing.subject, standing.role is None, standing.sessions_from)


async def standing(tx: Tx, subject: UUID) -> Any:
    """The row of the newest standing, or None."""
    return await tx.raw.fetchrow("SELECT * FROM app.standings WHERE subject = $1", subject)


async def end_sign_in(tx: Tx, sid: UUID) -> None:
    await tx.raw.execute("INSERT INTO app.ended_sign_ins (sid) VALUES ($1) ON CONFLICT DO NOTHING", sid)
    await tx.raw.execute("DELETE FROM app.identity_sessions WHERE sid = $1", sid)


async def is_ended(tx: Tx, sid: UUID) -> bool:
    return bool(await tx.raw.fetchval("SELECT 1 FROM app.ended_sign_ins WHERE sid = $1", sid))


async def find(tx: Tx, hashes: Sequence[str], at: datetime) -> dict[str, Found]:
    """Those of these sessions that are not over, by their hashes."""
    return {row["token_hash"]: Found(**row) for row in await tx.raw.fetch(_FIND, list(hashes), at)}


async def begin(tx: Tx, found: Found) -> None:
    await tx.raw.execute(
        _BEGIN,
        found.token_hash,
        found.subject,
        found.sid,
        found.name,
        found.role,
        found.begun_at,
        found.renew_at,
        found.ends_at,
    )


async def end(tx: Tx, token_hash: str) -> None:
    await tx.raw.execute("DELETE FROM app.identity_sessions WHERE token_hash = $1", token_hash)


async def use_token(tx: Tx, jti: UUID, at: datetime) -> bool:
    """Whether this token is used for the first time."""
    statement = "INSERT INTO app.used_tokens (jti, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1"
    return bool(await tx.raw.fetchval(statement, jti, at))


async def keep_code(tx: Tx, code_hash: str, token: str, place: str, at: datetime) -> None:
    statement = "INSERT INTO app.sign_in_codes (code_hash, token, next, made_at) VALUES ($1, $2, $3, $4)"
    await tx.raw.execute(statement, code_hash, token, place, at)


async def take_code(tx: Tx, code_hash: str, not_before: datetime) -> tuple[str, str] | None:
    """Token and place, once."""
    statement = "DELETE FROM app.sign_in_codes WHERE code_hash = $1 AND made_at > $2 RETURNING token, next"
    row = await tx.raw.fetchrow(statement, code_hash, not_before)
    return None if row is None else (row["token"], row["next"])


async def take_link(tx: Tx, link_hash: str, at: datetime) -> tuple[UUID, datetime] | None:
    """Guest and last moment of an invitation that is good, once."""
    row = await tx.raw.fetchrow(_TAKE_LINK, link_hash, at)
    return None if row is None else (row["subject"], row["until"])


async def clean(tx: Tx, at: datetime) -> None:
    for statement in _CLEAN:
        await tx.raw.execute(statement, at)
