"""Tell the lock that a decision key comes or goes, signed by the key that stays."""

from typing import Literal

from schemas.console.v1 import KeyChanged
from schemas.statements import KeyChange
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.signing import SigningKey


async def stage_change(
    tx: Tx, key: SigningKey, action: Literal["added", "revoked"], key_id: str, public: str, caller: Caller, reason: str
) -> str:
    """The statement's hash. `public`: the subject's 32 bytes in base64."""
    opening = make_opening(caller, reason)
    change = KeyChange(
        key_id=key.key_id,
        action=action,
        subject_key_id=key_id,
        subject_public_key=public,
        decided_at=now(),
        decider=opening.commitment,
    )
    signed = key.sign(change)
    data = KeyChanged(statement=signed, opening=opening)
    tx.stage("key.changed", data, key="keys", version=await next_version(tx, "keys"), actor=caller.name)
    return signed.hash
