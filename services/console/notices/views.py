"""What a person's notices page and the bell show."""

from collections.abc import Sequence
from datetime import datetime

from asyncpg import Record

from services.console.notices.domain import KEPT, SHOWN
from shared.db import Tx

_UNREAD = "SELECT count(*) FROM app.notices WHERE person_id = $1 AND read_at IS NULL AND at > $2"
_LIST = """
SELECT id, kind, text, place, at, read_at FROM app.notices WHERE person_id = $1 AND at > $2 ORDER BY at DESC, id DESC LIMIT $3"""


async def count_unread(tx: Tx, person_id: str, present: datetime) -> int:
    return int(await tx.raw.fetchval(_UNREAD, person_id, present - KEPT))


async def newest(tx: Tx, person_id: str, present: datetime) -> Sequence[Record]:
    """Of the last 30 days, the newest first."""
    return await tx.raw.fetch(_LIST, person_id, present - KEPT, SHOWN)
