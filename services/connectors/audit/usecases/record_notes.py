"""Append to the audit, and publish what was appended: both or neither (rule 17)."""

from collections.abc import Sequence

from services.connectors.audit import store
from services.connectors.audit.domain import Entry, Head, Note, make_entry
from shared.clock import now
from shared.db import Tx
from shared.ids import new_id


async def record_notes(tx: Tx, notes: Sequence[Note]) -> list[Entry]:
    """The entries, in order. Nobody else appends until `tx` ends: call it last. The chain's order is the events' order."""
    head, at = await store.lock_audit(tx), now()
    entries: list[Entry] = []
    for note in notes:
        entry = make_entry(note, head, new_id(), at)
        entries.append(entry)
        head = Head(entry.seq, entry.hash)
    if entries:
        await store.add_entries(tx, entries)
    for entry in entries:
        tx.stage_json("call.audited", entry.event, key="call_audit", version=entry.seq)
    return entries
