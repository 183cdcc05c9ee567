"""Attachments that never came: after a day their submission is refused, and bytes that nobody came for are forgotten."""

from services.bridge.attachments import store
from services.bridge.attachments.usecases.hold_submission import refuse_held
from shared.db import Tx

PATIENCE = 86_400.0
"""Seconds."""


async def give_up(tx: Tx) -> None:
    late = await store.drop_late(tx, PATIENCE)
    await refuse_held(tx, late, "not all of its attachments arrived within a day; submit it again")
    await store.prune(tx, PATIENCE)
