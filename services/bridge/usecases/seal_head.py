"""Tell the site the newest signed head of the gate's log: hourly, at start, and whenever it asks (S6)."""

from schemas.bridge.v1 import HeadSealed
from services.bridge import store
from services.bridge.gate import Gate, Head
from services.bridge.usecases.record_crossings import Step
from shared.clock import now
from shared.db import Tx
from shared.ids import fresh_id


async def seal_head(tx: Tx, gate: Gate, nonce: str = "") -> Head:
    """Stage a fresh head, signed with its time and the nonce of who asked; returns what it seals."""
    head = (await store.rules(tx)).head
    step = Step(tx)
    answer = HeadSealed(head=gate.head(head, now(), nonce))
    step.tell("head.sealed", answer, key=f"head:{fresh_id()}", version=max(head.seq, 0), to="site", about="gate")
    await step.done()
    return head
