"""Keep rows of the agent's usage ledger as they came."""

from collections.abc import Sequence

from schemas.agent.v1 import UsageRecorded
from services.console.spend import store
from shared.db import Tx


async def record_usage(tx: Tx, told: Sequence[UsageRecorded]) -> None:
    await store.add_usage(tx, [row for each in told for row in each.rows])
