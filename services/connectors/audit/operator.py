"""What the operator may ask about the call audit. Nothing here changes an entry."""

from typing import Any

from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.verify_audit import verify_audit
from shared.db import Database
from shared.ids import new_id
from shared.operator import Verb


class AuditDesk:
    """Verbs: calls.record, audit.verify."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def verbs(self) -> dict[str, Verb]:
        return {"calls.record": self.record, "audit.verify": self.verify}

    async def record(self, args: dict[str, Any]) -> dict[str, Any]:
        """Append a self-check entry; fields of Note may be given. {"entry_id"}."""
        said = {"asker": "operator", "connector": "self_check", "operation": "ping", "target": "localhost"}
        said |= {"outcome": "noted", "status": "no call was made"}
        note = Note(call_id=new_id(), **(said | args))
        async with self._db.transaction() as tx:
            (entry,) = await record_notes(tx, [note])
        return {"entry_id": str(entry.entry_id)}

    async def verify(self, _: dict[str, Any]) -> dict[str, Any]:
        return await verify_audit(self._db)
