"""A run of an automation is over: what it said is kept (rule 31), and a time that waited for its end is due."""

from datetime import datetime
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.texts import clean
from services.agent.tasks import store
from services.agent.tasks.domain import RunState
from shared.db import Tx

LONGEST_OUTPUT = 64 * 1024
"""Characters that are kept of an output or an error; the conversation has all of it."""


async def end_run(
    tx: Tx, owner: Owner, task_id: UUID, nominal_at: datetime, state: RunState, output: str = "", error: str = "", reason: str = ""
) -> bool:  # fmt: skip
    """False when it was over already: then what it said is not written."""
    said = (clean(each)[:LONGEST_OUTPUT] for each in (output, error, reason))
    return await store.end_run(tx, owner, task_id, nominal_at, state, *said)
