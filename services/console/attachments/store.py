"""SQL of attachments in console_db."""

from collections.abc import Sequence
from uuid import UUID

from shared.db import Tx

_PUT = "INSERT INTO app.attachments (item_id, hash, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
_READ = "SELECT data FROM app.attachments WHERE item_id = $1 AND hash = $2"
_HELD = "SELECT hash FROM app.attachments WHERE item_id = $1 AND hash = ANY ($2::text[])"
_NEWEST = """
SELECT r.content FROM app.items i JOIN app.revisions r ON r.item_id = i.item_id AND r.revision = i.revision WHERE i.item_id = $1"""


async def put(tx: Tx, item_id: UUID, hash_: str, data: bytes) -> None:
    await tx.raw.execute(_PUT, item_id, hash_, data)


async def read(tx: Tx, item_id: UUID, hash_: str) -> bytes | None:
    found: bytes | None = await tx.raw.fetchval(_READ, item_id, hash_)
    return found


async def held(tx: Tx, item_id: UUID, hashes: Sequence[str]) -> frozenset[str]:
    """Those of these hashes whose bytes are here."""
    return frozenset(row["hash"] for row in await tx.raw.fetch(_HELD, item_id, list(hashes)))


async def newest_content(tx: Tx, item_id: UUID) -> bytes | None:
    """The canonical content of the newest revision."""
    found: bytes | None = await tx.raw.fetchval(_NEWEST, item_id)
    return found
