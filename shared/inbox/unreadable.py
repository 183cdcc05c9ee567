"""Park what cannot even be read as an event."""

import json
from collections.abc import Mapping

from shared.db.engine import Database

_PARK = """
INSERT INTO app.parked (event_id, name, subject, headers, body, reason, attempts)
VALUES (NULL, 'unreadable', $1, $2::jsonb, $3, $4, 1)
"""


async def park_unreadable(db: Database, subject: str, headers: Mapping[str, str], body: bytes, reason: str) -> None:
    """Keep exact bytes with the reason. Such an event has no trustworthy id, so a redelivery would be kept twice."""
    async with db.transaction() as tx:
        await tx.raw.execute(_PARK, subject, json.dumps(dict(headers)), body, reason)
