"""What a mapping makes goes to the lock: it is inspected there, and waits in the queue for a person (rules 10, 20)."""

from uuid import UUID

from services.console.mappings import store
from services.console.mappings.usecases.make_drafts import find_mapping, make_drafts
from services.console.people.domain import Caller
from services.console.queue.usecases.submit_item import Submitted, read_draft, submit_item
from shared.clock import now
from shared.db import Tx


async def submit_mapping(tx: Tx, caller: Caller, mapping_id: UUID) -> list[Submitted]:
    """Refused as `make_drafts`; then nothing was handed in."""
    caller.require("submit")
    report = await find_mapping(tx, mapping_id)
    sent = []
    for made in await make_drafts(tx, caller, report):
        draft = read_draft(report.kind, report.lang, made.path, made.markdown, report.audience)
        one = await submit_item(tx, caller, draft)
        await store.used(tx, report, one.submission_id, one.item_id, made.rows, caller.name, now())
        sent.append(one)
    return sent
