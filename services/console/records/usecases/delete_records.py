"""Rows go. Their history stays, and each can be brought back from it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from services.console.apps.domain import InstalledApp
from services.console.records import store
from services.console.records.domain import How, Who, by_whom, shape_of
from shared.db import Tx
from shared.errors import Refused

MOST = 1000


async def delete_records(
    tx: Tx, app: InstalledApp, table: str, keys: Sequence[str], by: Who, how: How, batch: UUID | None = None
) -> list[dict[str, Any]]:
    """The rows that went, as they were; one that is not there any more is passed over. Refused when other rows refer to one, or above 1,000."""
    if len(keys) > MOST:
        raise Refused(f"At most {MOST:,} rows are deleted at once; these are {len(keys):,}.", code="many")
    return await store.delete(tx, shape_of(app, table), keys, by_whom(by, how, batch))
