"""Staff let the agent read a record, or no more. Nothing else of the console's ever comes here."""

from schemas.console.v1 import RecordShared, RecordUnshared
from services.agent.sharing import store
from shared.db import Tx


async def keep_record(tx: Tx, record: RecordShared) -> None:
    await store.put(tx, record)


async def drop_record(tx: Tx, record: RecordUnshared) -> None:
    """Its text is gone from here with this transaction."""
    await store.take_back(tx, record.record_id, record.at, record.version)
