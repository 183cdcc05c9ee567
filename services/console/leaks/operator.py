"""What the operator may ask of the leak guard."""

from typing import Any
from uuid import UUID

from services.console.leaks import views
from shared.db import Database
from shared.errors import Refused
from shared.operator import Verb

MOST = 1000


class LeakOperator:
    """Verbs: leaks.state, leaks.found."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"leaks.state": self.state, "leaks.found": self.found}

    async def state(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"columns", "unfinished", "waiting": changes that are not followed yet, "marks", "told_at"}."""
        async with self._db.reading() as tx:
            row = await views.state(tx)
            marks = await views.count_marks(tx)
        told = row["told_at"].isoformat() if row["told_at"] else None
        return {**dict(row), "told_at": told, "marks": marks}

    async def found(self, args: dict[str, Any]) -> dict[str, Any]:
        """args {"item_ids"} → {"found": [{"item_id", "revision", "message", "line"}]}: internal values in the newest revisions."""
        try:
            asked = [UUID(str(each)) for each in args["item_ids"]]
        except (KeyError, TypeError, ValueError):
            raise Refused("item_ids is a list of items' ids.", code="arguments") from None
        if len(asked) > MOST:
            raise Refused(f"At most {MOST} items are asked about at once.", code="many")
        async with self._db.reading() as tx:
            rows = await views.found(tx, asked)
        return {"found": [{**dict(row), "item_id": str(row["item_id"])} for row in rows]}
