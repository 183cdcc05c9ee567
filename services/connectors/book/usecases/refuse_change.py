"""What a person decided cannot be taken: say so to the console; nothing is changed."""

from typing import Any

from schemas.connectors.v1 import ChangeRefused
from schemas.statements import Signed
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import SchleuseError


def refuse_change(tx: Tx, event: Received[Any], signed: Signed, error: SchleuseError) -> None:
    fact = ChangeRefused(statement_hash=signed.hash, code=error.code, reason=error.message[:500], at=now())
    tx.stage("change.refused", fact, key=f"change:{event.event_id}", version=1, cause=event)
