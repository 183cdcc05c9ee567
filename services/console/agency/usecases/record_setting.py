"""The agent's answer, or the lock's: in force, or refused and why."""

from schemas.agent.v1 import SettingApplied
from services.console.agency import store
from shared.db import Tx


async def record_setting(tx: Tx, applied: SettingApplied) -> None:
    if applied.outcome == "applied":
        await store.put(tx, applied.model_dump(include={"name", "subject", "value", "statement_hash", "at", "version"}))
    await store.settle_change(tx, applied.statement_hash, applied.outcome, applied.reason or None)


async def record_setting_refused(tx: Tx, statement_hash: str, reason: str) -> bool:
    """The lock refused it. False when it was not about a setting of the agent."""
    return await store.settle_change(tx, statement_hash, "refused", reason)
