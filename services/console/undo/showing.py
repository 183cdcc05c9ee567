"""What the queue's pages show of it: a toast and a list, also after the page was loaded again."""

from typing import Any

from services.console.people.domain import Caller
from services.console.undo import views
from shared.clock import now
from shared.db import Database


async def offers(db: Database, caller: Caller) -> dict[str, Any]:
    """`undo`: the caller's own decisions of the last ten minutes, in groups, the newest first."""
    if not caller.may("decide"):
        return {"undo": []}
    async with db.reading() as tx:
        return {"undo": await views.undoable(tx, caller.id, now())}
