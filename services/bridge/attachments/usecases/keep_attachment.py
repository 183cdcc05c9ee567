"""The bytes of one attachment arrive: kept until the submission that names them is whole (rule 5)."""

from typing import Any

from schemas.text import sha256
from services.bridge import store as lock
from services.bridge.attachments import store
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx

MOST_WAITING = 512 * 1024 * 1024
"""Bytes of one surface that belong to no revision yet; what is more is refused, so that no surface fills what all share (S15)."""


async def keep_attachment(tx: Tx, event: Received[Any]) -> None:
    """What does not have the hash that it states is refused: nobody can ever ask for it."""
    step, data = Step(tx, event), event.data
    policy = (await lock.policies(tx)).get((event.sender, "bridge", event.name), "block")
    if policy == "block":
        await step.done("blocked", policy=policy, reason="the policy blocks this way")
    elif sha256(data.data) != data.hash:
        await step.done("refused", policy=policy, reason="the bytes do not have the hash that was stated")
    elif await store.waiting_bytes(tx, event.sender) > MOST_WAITING:
        await step.done("refused", policy=policy, reason=f"over {MOST_WAITING >> 20} MiB of attachments wait already")
    else:
        await store.keep(tx, data.submission_id, data.hash, event.sender, data.data)
        await step.done("queued", policy=policy)
