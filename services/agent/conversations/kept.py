"""Conversations of signed-in people, kept in Postgres. Several instances share them: the order of turns is the database's."""

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations import store, views
from services.agent.conversations.domain import Conversation, Message, ToolCall, TurnRecord
from services.agent.conversations.folding import read_search
from services.agent.conversations.texts import check_title
from services.agent.conversations.turns.store import set_reply
from services.agent.conversations.usecases.begin_turn import begin_turn
from services.agent.conversations.usecases.delete_conversation import delete_conversation
from services.agent.conversations.usecases.end_turn import end_turn
from services.agent.conversations.usecases.note_calls import begin_calls, end_calls
from services.agent.conversations.usecases.start_turn import closed, start_turn
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db import Database
from shared.db.notices import Notices
from shared.ids import fresh_id

LOOK_AGAIN = 0.5
"""Seconds after which a turn that waits looks again by itself: one before it may have ended in another process."""
TOPIC = "turn ended"


class KeptConversations:
    """`Conversations` for users. `worker` names this start of the process: what it left when it died is closed by whoever finds it (recovery.py)."""

    def __init__(self, db: Database, notices: Notices | None = None) -> None:
        self._db, self._notices = db, notices
        self.worker = fresh_id().hex
        self._ended: dict[UUID, set[asyncio.Event]] = {}
        self.announce: Callable[[Owner, UUID, UUID, str], None] = lambda *_: None
        if notices is not None:
            notices.on(TOPIC, self._heard)

    async def open(self, me: Me, conversation_id: UUID | None) -> Conversation:
        async with self._db.owned(me.owner) as tx:
            if conversation_id is None:
                return await store.add_conversation(tx, me.owner, fresh_id())
            return await views.find(tx, me.owner, conversation_id)

    async def list(self, me: Me, limit: int = 50) -> Sequence[Conversation]:
        async with self._db.owned(me.owner) as tx:
            return await views.list_conversations(tx, me.owner, limit)

    async def messages(
        self, me: Me, conversation_id: UUID, before: int | None = None, limit: int = 200
    ) -> Sequence[Message]:
        """The newest `limit` before that number, oldest first. NotFound."""
        async with self._db.owned(me.owner) as tx:
            found = await views.newest(tx, me.owner, conversation_id, before, limit)
            if not found:
                await views.find(tx, me.owner, conversation_id)
            return found

    async def begin(self, me: Me, conversation_id: UUID, turn_id: UUID, text: str, app: str) -> int:
        async with self._db.owned(me.owner) as tx:
            return await begin_turn(tx, me.owner, self.worker, conversation_id, turn_id, text, app)

    async def start(self, me: Me, conversation_id: UUID, turn_id: UUID) -> Sequence[Message]:
        """Waits until the turns before it have ended, wherever they run; then the whole history, its own message last.

        Conflict (code `turn_over`) when it was closed meanwhile.
        """
        while True:
            ended = asyncio.Event()
            self._ended.setdefault(conversation_id, set()).add(ended)
            try:
                async with self._db.owned(me.owner) as tx:
                    history = await start_turn(tx, me.owner, conversation_id, turn_id)
                if history is not None:
                    return history
                await _within(LOOK_AGAIN, ended)
            finally:
                self._forget(conversation_id, ended)

    async def calling(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        async with self._db.owned(me.owner) as tx:
            await begin_calls(tx, me.owner, turn_id, calls)

    async def called(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        async with self._db.owned(me.owner) as tx:
            await end_calls(tx, me.owner, conversation_id, turn_id, calls)

    async def saying(self, me: Me, turn_id: UUID, reply: str) -> None:
        """What was answered so far: should this process die, the conversation has it. At most once a second. Conflict when the turn is over."""
        async with self._db.owned(me.owner) as tx:
            if not await set_reply(tx, me.owner, turn_id, reply):
                raise closed()

    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None:
        async with self._db.owned(me.owner) as tx:
            await store.add_taint(tx, me.owner, conversation_id, sources)

    async def clear(self, me: Me, conversation_id: UUID) -> None:
        async with self._db.owned(me.owner) as tx:
            await store.clear_taint(tx, me.owner, conversation_id)

    async def end(self, me: Me, record: TurnRecord, *, aborted: bool = False) -> None:
        """Conflict (code `turn_over`) when it was closed already, with its row."""
        async with self._db.owned(me.owner) as tx:
            await end_turn(tx, me.owner, record, aborted=aborted)
        self.told(record.conversation_id)

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None:
        """It stands for itself, under an id as if it were a turn; whoever has the conversation open is told."""
        note = fresh_id()
        async with self._db.owned(me.owner) as tx:
            await store.add_message(tx, me.owner, conversation_id, Message(0, "note", text, now(), note))
        self.announce(me.owner, conversation_id, note, text)

    async def search(self, me: Me, words: str, limit: int = 20) -> Sequence[tuple[Conversation, Message]]:
        """Newest first. All words occur, in any case; what stands in quotes occurs exactly. Empty: the newest messages. Refused (code `search`)."""
        wanted = read_search(words)
        async with self._db.owned(me.owner) as tx:
            return await views.search(tx, me.owner, wanted, limit)

    async def rename(self, me: Me, conversation_id: UUID, title: str) -> None:
        kept = check_title(title)
        async with self._db.owned(me.owner) as tx:
            await store.rename(tx, me.owner, conversation_id, kept)

    async def delete(self, me: Me, conversation_id: UUID) -> None:
        async with self._db.owned(me.owner) as tx:
            await delete_conversation(tx, me.owner, conversation_id)
        self.told(conversation_id)

    def told(self, conversation_id: UUID) -> None:
        """A turn of it has ended: whoever waits looks, here and in the other instance."""
        self._wake(conversation_id)
        if self._notices is not None:
            self._notices.tell(TOPIC, str(conversation_id))

    def _heard(self, body: object) -> None:
        for each in [UUID(body)] if isinstance(body, str) else list(self._ended):
            self._wake(each)

    def _wake(self, conversation_id: UUID) -> None:
        for event in self._ended.get(conversation_id, ()):
            event.set()

    def _forget(self, conversation_id: UUID, event: asyncio.Event) -> None:
        waiting = self._ended.get(conversation_id, set())
        waiting.discard(event)
        if not waiting:
            self._ended.pop(conversation_id, None)


async def _within(seconds: float, event: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
