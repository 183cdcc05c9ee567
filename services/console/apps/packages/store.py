"""Packages in console_db. Their bytes are kept as long as the app runs by them."""
# statements are composed of names of ours

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from asyncpg import Record

from schemas.text import canonical
from services.console.apps.package import Package
from shared.db import Tx

_ADD = """INSERT INTO app.app_packages AS old (folder_hash, slug, declaration, has_code, files, bytes, sent_by, sent_at, expires_at, state)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting')
  ON CONFLICT (folder_hash) DO UPDATE SET (sent_by, sent_at, expires_at, state) = (excluded.sent_by, excluded.sent_at, excluded.expires_at, 'waiting')"""
_FILES = "INSERT INTO app.app_files (folder_hash, path, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
_REPLACE = "UPDATE app.app_packages SET state = 'replaced' WHERE slug = $1 AND state = 'waiting' AND folder_hash <> $2 RETURNING folder_hash"
_SHOWN = """SELECT p.folder_hash, p.slug, p.declaration, p.has_code, p.files, p.bytes, p.sent_by, p.sent_at, p.expires_at, p.state,
    d.verdict, d.by_name, d.reason, d.at
  FROM app.app_packages p
  LEFT JOIN LATERAL (SELECT * FROM app.app_decisions d WHERE d.folder_hash = p.folder_hash ORDER BY d.version DESC LIMIT 1) d ON true"""
_ONE = f"{_SHOWN} WHERE p.folder_hash = $1"
_HELD = f"{_ONE} FOR UPDATE OF p"
_WAITING = f"{_SHOWN} WHERE p.state = 'waiting' AND p.expires_at > $1 ORDER BY p.sent_at"
_SETTLED = f"{_SHOWN} WHERE NOT (p.state = 'waiting' AND p.expires_at > $1) ORDER BY p.sent_at DESC LIMIT 50"
_COUNT = "SELECT count(*) FROM app.app_packages WHERE state = 'waiting' AND expires_at > $1"
_STATE = "UPDATE app.app_packages SET state = $2 WHERE folder_hash = $1"
_READ = "SELECT path, content FROM app.app_files WHERE folder_hash = $1 ORDER BY path"
_LISTED = "SELECT path, length(content) AS bytes, encode(sha256(content), 'hex') AS hash FROM app.app_files WHERE folder_hash = $1 ORDER BY path"
_DECISIONS = "SELECT verdict, folder_hash, by_name, reason, at FROM app.app_decisions WHERE slug = $1 ORDER BY version DESC LIMIT 30"
_NEWEST = "SELECT payload, signature, key_id FROM app.app_decisions WHERE slug = $1 AND verdict <> 'refuse' ORDER BY version DESC LIMIT 1"
_PRUNE = """DELETE FROM app.app_files WHERE folder_hash IN (
    SELECT folder_hash FROM app.app_packages WHERE (state IN ('refused', 'replaced') OR expires_at < $1) AND state <> 'installed')
  AND folder_hash NOT IN (SELECT folder_hash FROM app.apps)"""


async def add(tx: Tx, package: Package, sent_by: str, at: datetime, until: datetime) -> list[str]:
    """The hashes of older packages of this app that waited, and do so no more."""
    raw = canonical(package.declaration.model_dump(mode="json"))
    about = (package.folder_hash, package.declaration.slug, raw, package.has_code, len(package.files), package.size)
    await tx.raw.execute(_ADD, *about, sent_by, at, until)
    await tx.raw.executemany(_FILES, [(package.folder_hash, path, content) for path, content in package.files.items()])
    return [row[0] for row in await tx.raw.fetch(_REPLACE, package.declaration.slug, package.folder_hash)]


async def one(tx: Tx, folder_hash: str, *, lock: bool = False) -> Record | None:
    return await tx.raw.fetchrow(_HELD if lock else _ONE, folder_hash)


async def waiting(tx: Tx, at: datetime) -> Sequence[Record]:
    found: Sequence[Record] = await tx.raw.fetch(_WAITING, at)
    return found


async def settled(tx: Tx, at: datetime) -> Sequence[Record]:
    found: Sequence[Record] = await tx.raw.fetch(_SETTLED, at)
    return found


async def count_waiting(tx: Tx, at: datetime) -> int:
    return int(await tx.raw.fetchval(_COUNT, at))


async def put_state(tx: Tx, folder_hash: str, state: str) -> None:
    await tx.raw.execute(_STATE, folder_hash, state)


async def files(tx: Tx, folder_hash: str) -> Mapping[str, bytes]:
    return {row["path"]: row["content"] for row in await tx.raw.fetch(_READ, folder_hash)}


async def listed(tx: Tx, folder_hash: str) -> list[dict[str, Any]]:
    """path, bytes and hash of every file."""
    return [dict(row.items()) for row in await tx.raw.fetch(_LISTED, folder_hash)]


async def decisions(tx: Tx, slug: str) -> Sequence[Record]:
    """What people said about an app, newest first."""
    found: Sequence[Record] = await tx.raw.fetch(_DECISIONS, slug)
    return found


async def newest_word(tx: Tx, slug: str) -> Record | None:
    """payload, signature and key_id of what was said last about an app."""
    return await tx.raw.fetchrow(_NEWEST, slug)


async def prune(tx: Tx, at: datetime) -> None:
    """Bytes that nobody will run. What was sent and decided stays as a row."""
    await tx.raw.execute(_PRUNE, at)
