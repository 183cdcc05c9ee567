"""The console says how it stands with a proposal. Its conversation is told, and so is its owner when it is decided."""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol
from uuid import UUID

from schemas.console.v1 import ProposalAnswered
from schemas.outward import Owner
from services.agent.conversations.domain import Message
from services.agent.conversations.store import add_message
from services.agent.drafting import store
from services.agent.drafting.domain import note_of
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.ids import fresh_id

Announce = Callable[[Owner, UUID, UUID, str], None]
"""Told of a note that a conversation has got: whose, which conversation, the note's id, its text."""


class Notify(Protocol):
    """Tells the owner, with the transaction. `link`: a path of the workspace."""

    async def __call__(self, tx: Tx, owner: Owner, title: str, text: str, *, link: str = "") -> None: ...


async def _nobody(tx: Tx, owner: Owner, title: str, text: str, *, link: str = "") -> None:
    """Nothing is told."""


class Telling:
    """By which ways an owner hears of an answer. `console_url`: where proposals are decided."""

    def __init__(self, console_url: str, announce: Announce = lambda *_: None, notify: Notify = _nobody) -> None:
        self.console_url, self.announce, self.notify = console_url, announce, notify


async def keep_answer(tx: Tx, answered: ProposalAnswered, telling: Telling) -> None:
    """Of a proposal that is this owner's; the newest word counts, in whichever order they come."""
    async with tx.acting_for(answered.owner):
        held = await store.held(tx, answered.owner, answered.proposal_id)
        if held is None or held["version"] >= answered.version:
            return
        await store.move(tx, answered)
        text = note_of(answered, held["title"], telling.console_url)
        if not text:
            return
        if held["conversation_id"] is not None:
            await _note(tx, answered.owner, held["conversation_id"], text, telling)
        if answered.state != "waiting":
            place = held["conversation_id"]
            await telling.notify(tx, answered.owner, held["title"], text, link=f"/c/{place}" if place else "")


async def _note(tx: Tx, owner: Owner, conversation_id: UUID, text: str, telling: Telling) -> None:
    """Nothing when the conversation was deleted; the answer still stands among the proposals."""
    note = fresh_id()
    with suppress(NotFound):
        await add_message(tx, owner, conversation_id, Message(0, "note", text, now(), note))
        tx.after_commit(lambda: telling.announce(owner, conversation_id, note, text))
