"""Append a call to the audit, and publish it: both or neither. If the audit cannot be written, there is no call (rule 17)."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from schemas.connectors.v1 import CallAudited
from services.connectors.audit import store
from services.connectors.audit.domain import make_entry
from shared.clock import now
from shared.db import Tx
from shared.ids import new_id


@dataclass(frozen=True)
class Call:
    """A call that was made (or refused). Never a body, never a value of a secret."""

    asker: str
    connector: str
    operation: str
    target: str
    outcome: Literal["ok", "failed", "refused"]
    on_behalf_of: str = ""
    status: str = ""
    duration_ms: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    trace_id: str = ""


async def record_call(tx: Tx, call: Call) -> UUID:
    """Append and publish; the entry's id. The chain's order is the events' order."""
    head = await store.lock_audit(tx)
    fact = CallAudited(entry_id=new_id(), seq=head.seq + 1, at=now(), **vars(call))
    await store.add_entry(tx, fact.entry_id, make_entry(fact, head))
    tx.stage("call.audited", fact, key="call_audit", version=fact.seq)
    return fact.entry_id
