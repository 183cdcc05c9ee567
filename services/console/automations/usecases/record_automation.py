"""The agent says how it stands with an automation that a person allowed."""

from schemas.agent.v1 import AutomationStated
from services.console.automations import store
from shared.db import Tx


async def record_automation(tx: Tx, said: AutomationStated) -> None:
    """Kept if it is newer than what is known. One that has ended is not delegated for any more."""
    await store.put(tx, said)
