"""SQL of attachments in console_db."""

from collections.abc import Sequence
from uuid import UUID

from shared.db import Tx

_PUT = "INSERT INTO app.attachments (item_id, hash, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
_READ = "SELECT data FROM app.attachments WHERE item_id = $1 AND hash = $2"
_HELD = "SELECT hash FROM app.attachments WHERE item_id = $1 AND hash = ANY ($2::text[])"
_CONTENT = "SELECT content FROM app.revisions WHERE item_id = $1 AND revision = $2"


async def put(tx: Tx, item_id: UUID, hash_: str, data: bytes) -> None:
    await tx.raw.execute(_PUT, item_id, hash_, data)


async def read(tx: Tx, item_id: UUID, hash_: str) -> bytes | None:
    found: bytes | None = await tx.raw.fetchval(_READ, item_id, hash_)
    return found


async def held(tx: Tx, item_id: UUID, hashes: Sequence[str]) -> frozenset[str]:
    """Those of these hashes whose bytes are here."""
    return frozenset(row["hash"] for row in await tx.raw.fetch(_HELD, item_id, list(hashes)))


async def content(tx: Tx, item_id: UUID, revision: int) -> bytes | None:
    """A revision's canonical content."""
    found: bytes | None = await tx.raw.fetchval(_CONTENT, item_id, revision)
    return found
