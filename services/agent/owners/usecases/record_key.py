"""The gate's log says that a decision key was added or revoked: statements are verified accordingly from now on."""

from schemas.bridge.v1 import KeyRecorded
from services.agent.owners.deciders import Deciders
from services.agent.owners.settings import AgentSettings
from shared.bus import Received
from shared.db import Tx


async def record_key(tx: Tx, event: Received[KeyRecorded], deciders: Deciders, settings: AgentSettings) -> None:
    """BadSignature parks what neither the gate nor a decision key signed. The same entry twice changes nothing."""
    if await deciders.record(tx, event.data):
        settings.written(tx)
