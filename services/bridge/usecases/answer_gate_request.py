"""The site asks for entries of the gate's log that it may have missed: send them again in order, then a head with its nonce."""

from asyncpg import Record

from schemas.site.v1 import GateRequested
from schemas.statements import Decision, Signed
from services.bridge import store, views
from services.bridge.attachments.usecases.publish_attachments import publish_attachments
from services.bridge.gate import Gate, Sealed
from services.bridge.usecases.append_entry import tell_site
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.seal_head import seal_head
from shared.bus import Received
from shared.db import Tx

BATCH = 50
"""Entries sent again in one transaction: at most about 35 MiB of contents, usually one or two."""
HEAVY = 8 * 1024 * 1024
"""Bytes of attachments after which a transaction ends."""


async def note_gate_request(tx: Tx, event: Received[GateRequested]) -> None:
    """Remember the question; `answer_gate_request` works through it in steps, so that a long log blocks nothing."""
    await store.ask(tx, event.event_id, event.data.nonce, event.data.after_seq)
    await Step(tx, event).done()


async def answer_gate_request(tx: Tx, gate: Gate) -> bool:
    """Send the next batch of entries for the oldest question, the head after the last; False when nobody asks."""
    question = await store.oldest_question(tx)
    if question is None:
        return False
    entries = await views.entries_after(tx, question["after_seq"], BATCH)
    step = Step(tx)
    key, heavy, last = f"gate:{question['event_id']}", 0, question["after_seq"]
    for row in entries:
        sealed, last = sealed_of(row), row["seq"]
        heavy += await publish_attachments(step, sealed, _attachments(row), key)
        tell_site(step, sealed, row["content"], key=key)
        if heavy > HEAVY:
            break
    await step.done()
    if len(entries) == BATCH or heavy > HEAVY:
        await store.answered_until(tx, question["position"], last)
        return True
    await seal_head(tx, gate, question["nonce"])
    await store.answered(tx, question["position"])
    return True


def _attachments(row: Record) -> tuple[str, ...]:
    """Of what is public now; of what was replaced or taken back since the site shows nothing."""
    return Decision.from_bytes(row["statement"]).attachments if row["current"] else ()


def sealed_of(row: Record) -> Sealed:
    """An entry as it is stored."""
    entry = Signed(payload=row["entry"], signature=row["signature"], key_id=row["key_id"])
    statement = Signed(payload=row["statement"], signature=row["statement_signature"], key_id=row["statement_key_id"])
    return Sealed(row["seq"], row["kind"], entry, row["previous"], statement, row["item_id"], row["revision"])
