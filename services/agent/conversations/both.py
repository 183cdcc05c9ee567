"""Conversations of whoever asks: a user's from the database, a guest's from memory."""

from collections.abc import Sequence
from uuid import UUID

from services.agent.conversations.domain import Conversation, Conversations, Message, ToolCall, TurnRecord
from services.agent.owners.domain import Me


class AllConversations:
    """`Conversations` for everybody. A guest's words never reach the database (rule 22)."""

    def __init__(self, kept: Conversations, guests: Conversations) -> None:
        self._kept, self._guests = kept, guests

    def of(self, me: Me) -> Conversations:
        return self._guests if me.is_guest else self._kept

    async def open(self, me: Me, conversation_id: UUID | None) -> Conversation:
        return await self.of(me).open(me, conversation_id)

    async def list(self, me: Me, limit: int = 50) -> Sequence[Conversation]:
        return await self.of(me).list(me, limit)

    async def messages(
        self, me: Me, conversation_id: UUID, before: int | None = None, limit: int = 200
    ) -> Sequence[Message]:
        return await self.of(me).messages(me, conversation_id, before, limit)

    async def begin(self, me: Me, conversation_id: UUID, turn_id: UUID, text: str, app: str) -> int:
        return await self.of(me).begin(me, conversation_id, turn_id, text, app)

    async def start(self, me: Me, conversation_id: UUID, turn_id: UUID) -> Sequence[Message]:
        return await self.of(me).start(me, conversation_id, turn_id)

    async def saying(self, me: Me, turn_id: UUID, reply: str) -> None:
        await self.of(me).saying(me, turn_id, reply)

    async def calling(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        await self.of(me).calling(me, conversation_id, turn_id, calls)

    async def called(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        await self.of(me).called(me, conversation_id, turn_id, calls)

    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None:
        await self.of(me).taint(me, conversation_id, sources)

    async def clear(self, me: Me, conversation_id: UUID) -> None:
        await self.of(me).clear(me, conversation_id)

    async def end(self, me: Me, record: TurnRecord, *, aborted: bool = False) -> None:
        await self.of(me).end(me, record, aborted=aborted)

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None:
        await self.of(me).note(me, conversation_id, text)

    async def search(self, me: Me, words: str, limit: int = 20) -> Sequence[tuple[Conversation, Message]]:
        return await self.of(me).search(me, words, limit)

    async def rename(self, me: Me, conversation_id: UUID, title: str) -> None:
        await self.of(me).rename(me, conversation_id, title)

    async def delete(self, me: Me, conversation_id: UUID) -> None:
        await self.of(me).delete(me, conversation_id)
