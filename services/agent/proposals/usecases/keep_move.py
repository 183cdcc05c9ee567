"""The lock tells what became of a proposal, and its conversation is told. It can only be told: nothing that arrives here publishes anything (rule 20)."""

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

from schemas.bridge.v1 import ProposalMoved
from schemas.outward import Owner
from services.agent.conversations.domain import Message
from services.agent.conversations.store import add_message
from services.agent.proposals import store
from services.agent.proposals.domain import note_of
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.ids import fresh_id

Announce = Callable[[Owner, UUID, UUID, str], None]
"""Told of a note that a conversation has got: whose, which conversation, the note's id, its text."""


async def keep_move(tx: Tx, moved: ProposalMoved, announce: Announce = lambda *_: None) -> None:
    """Of a proposal that is somebody's; the newest word counts, in whichever order they come."""
    owner = await store.owner_of(tx, moved.submission_id)
    if owner is None:
        return  # the operator's own, or its owner's things were deleted
    async with tx.acting_for(owner):
        held = await store.held(tx, owner, moved.submission_id)
        if held is None or held["version"] >= moved.version:
            return
        await store.move(tx, owner, moved)
        text = note_of(held["state"], moved, held["title"])
        if text:
            await _tell(tx, owner, held["conversation_id"], text, announce)


async def _tell(tx: Tx, owner: Owner, conversation_id: UUID, text: str, announce: Announce) -> None:
    """Nothing when the conversation was deleted; what became of it still stands among the proposals."""
    note = fresh_id()
    with suppress(NotFound):
        await add_message(tx, owner, conversation_id, Message(0, "note", text, now(), note))
        tx.after_commit(lambda: announce(owner, conversation_id, note, text))
