"""Statements over the tables of owners. What is somebody's is reached by `Database.owned` alone, and names its owner all the same."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.agency import Access
from schemas.outward import Delegation, Owner
from schemas.statements import Opening, Signed
from shared.db import Tx

_LOCK = "SELECT pg_advisory_xact_lock(7305814204)"
_ADD = """
INSERT INTO core.statements (purpose, subject, statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"""
_AFTER = """
SELECT position, purpose, statement, signature, key_id, person_id, person_name, via, reason, nonce FROM core.statements
WHERE position > $1 AND ($2::text[] IS NULL OR purpose = ANY ($2)) ORDER BY position"""
_HAS = "SELECT EXISTS (SELECT FROM core.statements WHERE statement_hash = $1)"
_NEWEST = "SELECT coalesce(max(position), 0) FROM core.statements"
_ADD_ACCESS = """
INSERT INTO core.access (access_id, version, token_hash, subject, statement, signature, key_id) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING"""
_TOKEN_OF = "SELECT token_hash FROM core.access WHERE access_id = $1 LIMIT 1"  # noqa: S105 - a statement
_ACCESS = """
SELECT a.token_hash, a.subject, a.statement, a.signature, a.key_id, s.role AS standing
FROM (SELECT DISTINCT ON (access_id) * FROM core.access
  WHERE access_id IN (SELECT access_id FROM core.access WHERE token_hash = ANY ($1)) ORDER BY access_id, version DESC) a
LEFT JOIN app.standings s ON s.subject = a.subject"""
_KEEP_DELEGATION = """
INSERT INTO core.delegations AS old (owner_kind, owner_id, statement, signature, key_id, issued_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (owner_kind, owner_id) DO UPDATE SET
  (statement, signature, key_id, issued_at, expires_at) =
  (excluded.statement, excluded.signature, excluded.key_id, excluded.issued_at, excluded.expires_at)
WHERE old.issued_at < excluded.issued_at"""
_DELEGATION = """
SELECT d.statement, d.signature, d.key_id, s.role FROM core.delegations d LEFT JOIN app.standings s ON s.subject::text = d.owner_id
WHERE d.owner_kind = $1 AND d.owner_id = $2"""
_ZONE = "SELECT zone FROM core.profiles WHERE owner_kind = $1 AND owner_id = $2"
_KEEP_ZONE = """
INSERT INTO core.profiles (owner_kind, owner_id, zone, zone_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (owner_kind, owner_id) DO UPDATE SET (zone, zone_at) = (excluded.zone, excluded.zone_at)"""


async def lock_statements(tx: Tx) -> None:
    """Nobody else adds one until this transaction ends: positions are the order in which they count."""
    await tx.raw.execute(_LOCK)


async def add_statement(tx: Tx, purpose: str, subject: str, signed: Signed, opening: Opening | None) -> None:
    said = ("", "", "", "", "") if opening is None else (
        opening.person_id, opening.person_name, opening.via, opening.reason, opening.nonce
    )  # fmt: skip
    await tx.raw.execute(_ADD, purpose, subject, signed.payload, signed.signature, signed.key_id, signed.hash, *said)


async def statements_after(tx: Tx, position: int, purposes: Sequence[str] | None = None) -> Sequence[Record]:
    """In order; of these purposes, or of all."""
    return await tx.raw.fetch(_AFTER, position, purposes)


async def has_statement(tx: Tx, statement_hash: str) -> bool:
    return bool(await tx.raw.fetchval(_HAS, statement_hash))


async def newest_position(tx: Tx) -> int:
    return int(await tx.raw.fetchval(_NEWEST))


async def add_access(tx: Tx, access: Access, signed: Signed) -> None:
    """What is said twice is kept once."""
    row = (access.access_id, access.version, access.token_hash, access.subject)
    await tx.raw.execute(_ADD_ACCESS, *row, signed.payload, signed.signature, signed.key_id)


async def token_of(tx: Tx, access_id: UUID) -> str | None:
    """The hash of the key that goes by this id."""
    found: str | None = await tx.raw.fetchval(_TOKEN_OF, access_id)
    return found


async def access_of(tx: Tx, token_hashes: Sequence[str]) -> Sequence[Record]:
    """The newest word on each of these keys, with the role that the person has (`standing` None: none known, or shut out)."""
    return await tx.raw.fetch(_ACCESS, list(token_hashes))


async def keep_delegation(tx: Tx, found: Delegation, signed: Signed) -> None:
    """An older one replaces nothing."""
    owner = found.owner
    times = (found.issued_at, found.expires_at)
    await tx.raw.execute(
        _KEEP_DELEGATION, owner.kind, owner.id, signed.payload, signed.signature, signed.key_id, *times
    )


async def delegation_of(tx: Tx, owner: Owner) -> Record | None:
    """With the role that the person has (None: none known, or shut out)."""
    return await tx.raw.fetchrow(_DELEGATION, owner.kind, owner.id)


async def zone_of(tx: Tx, owner: Owner) -> str | None:
    found: str | None = await tx.raw.fetchval(_ZONE, owner.kind, owner.id)
    return found


async def keep_zone(tx: Tx, owner: Owner, zone: str, at: datetime) -> None:
    await tx.raw.execute(_KEEP_ZONE, owner.kind, owner.id, zone, at)
