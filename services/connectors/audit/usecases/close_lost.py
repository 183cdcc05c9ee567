"""Calls that were under way when a process ended: nobody knows how they went, and the audit says so."""

from uuid import UUID

from services.connectors.audit import views
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from shared.db import Tx


async def close_lost(tx: Tx, part: str, until: int) -> int:
    """How many entries up to number `until` had begun in this part without an end. They get one: `lost`."""
    open_calls = await views.unended(tx, part, until)
    same = ("asker", "operation", "on_behalf_of", "connector", "target", "secret", "trace_id")
    notes = [
        Note(
            call_id=UUID(each["call_id"]),
            outcome="lost",
            status="the process ended",
            **{name: each[name] for name in same},
        )
        for each in open_calls
    ]
    if notes:
        await record_notes(tx, notes)
    return len(notes)
