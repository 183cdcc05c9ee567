"""Conversations as something that their owner can take away and have deleted."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations import views
from services.agent.conversations.domain import Conversation, Message
from services.agent.conversations.kept import KeptConversations
from services.agent.conversations.usecases.delete_conversation import forget_conversations
from shared.db import Database


class ConversationsHolding:
    """One file a conversation, the turns in another."""

    name = "conversations"
    tables = frozenset({"conversations", "messages", "open_turns", "turns", "turn_texts"})

    def __init__(self, db: Database, kept: KeptConversations) -> None:
        self._db, self._kept = db, kept

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        async with self._db.owned(owner) as tx:
            found = await views.list_conversations(tx, owner, views.LAST)
            turns = await views.list_turns(tx, owner, views.LAST)
        for each in found:
            yield _path(each), _json(await self._whole(owner, each))
        if turns:
            yield "turns.json", _json([dict(row.items()) for row in turns])

    async def _whole(self, owner: Owner, conversation: Conversation) -> dict[str, Any]:
        async with self._db.owned(owner) as tx:
            messages = await views.newest(tx, owner, conversation.conversation_id, None, views.LAST)
        return {**asdict(conversation), "messages": [_message(message) for message in messages]}

    async def forget(self, owner: Owner) -> int:
        """A turn that runs is over."""
        async with self._db.owned(owner) as tx:
            gone, places = await forget_conversations(tx, owner)
        for place in places:
            self._kept.told(place)
        return gone


def _message(message: Message) -> dict[str, Any]:
    found = asdict(message)
    return found if message.calls else {name: value for name, value in found.items() if name != "calls"}


def _path(conversation: Conversation) -> str:
    """`conversations/2026-11-30-invoices-3fb1c2d4.json`: readable, and the same for nobody else's."""
    title = re.sub(r"[^\w]+", "-", conversation.title).strip("-")[:60].lower() or "untitled"
    return f"conversations/{conversation.created_at:%Y-%m-%d}-{title}-{conversation.conversation_id.hex[:8]}.json"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_text).encode()


def _text(value: Any) -> str:
    return (
        str(value)
        if isinstance(value, UUID)
        else format(value, "f")
        if hasattr(value, "as_tuple")
        else value.isoformat()
    )
