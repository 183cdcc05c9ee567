"""Recompute the copy of the call audit from its content, a piece at a time, and compare it with the checkpoints (rule 17)."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from asyncpg import Record

from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from services.console.audit import store
from services.console.audit.chain import views as chain_views
from services.console.audit.domain import LATE, Head, follow
from services.console.audit.usecases.tell_broken import tell_broken
from services.console.notices.domain import Notice
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys

PIECE = 500
"""Entries."""


class Found(NamedTuple):
    """How far a piece goes on; `more`: there is more to look at now."""

    head: Head
    checkpoint: int
    bad: tuple[int, str] | None
    more: bool


async def check_some(tx: Tx, keys: PublicKeys) -> tuple[bool, list[Notice]]:
    """The next piece; whether there is more, and who was told of a bad entry. False, too, while another instance is at it, and after a bad entry until somebody asks again."""
    held = await store.hold_chain(tx)
    if held is None or held["first_bad"] is not None:
        return False, []
    began = time.monotonic()
    found = await look_on(tx, Head(held["seq"], held["hash"]), held["checkpoint"], keys)
    spent = round(1000 * (time.monotonic() - began))
    await store.keep_chain(tx, found.head, found.checkpoint, found.bad, spent, done=not found.more)
    return found.more, [] if found.bad is None else await tell_broken(tx, *found.bad)


async def look_on(tx: Tx, head: Head, checkpoint: int, keys: PublicKeys) -> Found:
    """From `head`, and from the checkpoint over `checkpoint` entries."""
    rows, present = await chain_views.entries_after(tx, head.seq, PIECE), now()
    signed = list(await chain_views.checkpoints_after(tx, checkpoint, PIECE))
    waits = False
    for row in rows:
        following = follow(head, dict(row), present)
        if isinstance(following, str):
            return Found(head, checkpoint, (head.seq + 1, following), more=False)
        if following is None:
            waits = True
            break
        head = following
        while signed and signed[0]["size"] == head.seq + 1:
            fault = checkpoint_fault(signed[0], head, keys)
            if fault:
                return Found(head, checkpoint, (head.seq, fault), more=False)
            checkpoint = signed.pop(0)["size"]
    at_end = len(rows) < PIECE
    bad = _cut(signed, head, present) if at_end and not waits else None
    return Found(head, checkpoint, bad, more=not (at_end or waits))


def _cut(signed: Sequence[Record], head: Head, present: datetime) -> tuple[int, str] | None:
    """A checkpoint says that there are more entries, and they had the time to come."""
    for row in signed:
        if row["size"] > head.seq + 1 and present - row["arrived_at"] > LATE:
            return head.seq + 1, f"it is missing here, and a checkpoint over {row['size']} entries was signed"
    return None


def checkpoint_fault(row: Any, head: Head, keys: PublicKeys) -> str:
    """Why a kept checkpoint does not say what this chain says, or an empty text."""
    about = f"the checkpoint over {row['size']} entries contradicts it"
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    countersigned = Signed(payload=row["witness"], signature=row["witness_signature"], key_id=row["witness_key_id"])
    try:
        said, seen = keys.verify("audit", signed, Checkpoint), keys.verify("witness", countersigned, Witness)
    except BadSignature as error:
        return f"{about}: {error.message}"
    stated = (row["size"], row["root"])
    if (said.size, said.root) != stated or (seen.checkpoint_hash, seen.size, seen.root) != (signed.hash, *stated):
        return f"{about}: its columns do not say what was signed"
    return "" if said.root == head.hash else f"{about}: it states another hash"
