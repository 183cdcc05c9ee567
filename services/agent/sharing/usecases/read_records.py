"""What staff let the agent read, as it is now. What was taken back is not there any more."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.engine import RowMapping

from services.agent.sharing import store
from shared.db import Tx
from shared.errors import NotFound


async def read_records(
    tx: Tx, ids: Sequence[UUID] = (), words: str = "", kind: str = "", limit: int = 20
) -> Sequence[RowMapping]:
    """The newest first, with their texts. NotFound when one of `ids` cannot be read: whether there ever was one is not said."""
    rows = await store.readable(tx, ids, words, kind, max(limit, len(ids)))
    if len(rows) < len(set(ids)):
        raise NotFound(
            "No such record is shared with the agent. Staff share records in the console, under Shared with the agent."
        )
    return rows
