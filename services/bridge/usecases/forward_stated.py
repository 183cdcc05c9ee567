"""What the console says of a person for the agent passes: a key of its API, a delegation (S10). Checked here, and by whoever acts on it."""

from typing import Any

from schemas.agency import Access
from schemas.catalogue import BY_NAME
from schemas.console.v1 import AccessStated
from schemas.outward import Delegation
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys


async def forward_stated(tx: Tx, event: Received[Any], keys: PublicKeys) -> None:
    """The same bytes go on to the agent; without the identity key's signature nothing does."""
    step, data = Step(tx, event), event.data
    signed, kind = (data.access, Access) if isinstance(data, AccessStated) else (data.delegation, Delegation)
    try:
        keys.verify("identity", signed, kind)
    except BadSignature as error:
        await step.done("refused", reason=error.message)
        return
    (reader,) = BY_NAME[event.name].readers
    step.forward(reader, decided_by="", signature=signed.signature)
    await step.done()
