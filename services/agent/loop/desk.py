"""Where turns are handed in, followed, stopped and waited for. One at a time in a conversation, conversations side by side (rule 4)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from schemas.text import text_fault
from services.agent.conversations.domain import MAX_MESSAGE, Conversations, TurnRecord
from services.agent.loop.channels import Channels, Reader, from_wire, later, to_wire
from services.agent.loop.domain import Happening, Place, TurnRef, place_of
from services.agent.loop.running import Turn
from services.agent.loop.turns import Turns
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db.notices import Notices
from shared.errors import NotFound, Refused, TooLarge
from shared.ids import new_id

HAPPENED, STOP = "turn happened", "turn stop"
LAST_WORDS = 5.0
"""Seconds that running turns have at a stop to be written down."""
REMEMBERED = 60.0


class Desk:
    """One for a process, and a part of it: at a stop, turns are written down as far as they came."""

    def __init__(self, conversations: Conversations, turns: Turns, notices: Notices) -> None:
        self._conversations, self._turns, self._notices = conversations, turns, notices
        self.channels = Channels(self._tell)
        self._live: dict[UUID, Turn] = {}
        notices.on(HAPPENED, self._heard)
        notices.on(STOP, self._told_to_stop)

    @property
    def running(self) -> int:
        return sum(each.started and not each.over.is_set() for each in self._live.values())

    @property
    def waiting(self) -> int:
        return sum(not each.started and not each.over.is_set() for each in self._live.values())

    async def submit(self, me: Me, conversation_id: UUID | None, text: str, *, tied: bool = False) -> TurnRef:
        """Accept a message. Refused (rule 19), TooLarge (rule 5), NotFound (rule 24), TooMany (`busy`, rule 4).

        `tied`: when nobody watches or waits for it any more, the turn is stopped.
        """
        check(text)
        place = conversation_id or (await self._conversations.open(me, None)).conversation_id
        turn_id = new_id()
        ref = TurnRef(place, turn_id, await self._conversations.begin(me, place, turn_id, text, me.app))
        turn = Turn(me, ref, text, tied, self.channels.publish, now())
        self._live[turn_id] = turn
        turn.task = asyncio.create_task(self._turns.run(turn), name=f"turn {turn_id}")
        turn.task.add_done_callback(lambda task: self._ended(turn, task))
        return ref

    async def watch(
        self, me: Me, conversation_id: UUID, after: tuple[UUID, int] | None = None
    ) -> AsyncIterator[Happening]:
        """What happens in a conversation from now on, and what was missed. NotFound for what is not theirs. Ends when the service stops."""
        place = place_of(me, conversation_id)
        if not self.channels.is_known(place):
            await self._conversations.open(me, conversation_id)
        with self.channels.reading(place, after) as reader:
            try:
                async for happening in reader:
                    yield happening
            finally:
                self._left(place, reader)

    async def stop_turn(self, me: Me, conversation_id: UUID) -> None:
        """Stop what runs in a conversation, in whichever instance. What waits behind it goes on."""
        await self._conversations.open(me, conversation_id)
        place = place_of(me, conversation_id)
        self._stop(place)
        self._notices.tell(STOP, [place[0], place[1], str(conversation_id)])

    async def wait(self, me: Me, turn_id: UUID) -> TurnRecord:
        """The turn's record once it is over. NotFound when it is nobody's here, or somebody else's. A tied turn ends with who waits for it."""
        turn = self._live.get(turn_id)
        if turn is None or turn.me.owner != me.owner:
            raise NotFound("There is no such turn here.", code="turn")
        try:
            await turn.over.wait()
        except asyncio.CancelledError:
            if turn.tied:
                turn.stop()
            raise
        assert turn.record is not None
        return turn.record

    def leave(self, me: Me) -> None:
        """A guest has gone: what they asked for ends with them, and nothing of it is remembered."""
        for turn in [each for each in self._live.values() if each.me.owner == me.owner]:
            turn.stop()
            self.channels.drop(turn.place)
            if turn.over.is_set():
                self._live.pop(turn.turn_id, None)

    def close(self) -> None:
        """The HTTP server begins to stop: turns are stopped while there is still a way to write them down, and all streams end."""
        for turn in tuple(self._live.values()):
            turn.stop()
        self.channels.close()

    async def start(self) -> None:
        """Nothing runs yet."""

    async def stop(self) -> None:
        """The process ends: turns are stopped, and written down."""
        self.close()
        tasks = [each.task for each in self._live.values() if each.task is not None and not each.task.done()]
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_WORDS)

    def _stop(self, place: Place) -> None:
        for turn in tuple(self._live.values()):
            if turn.place == place and turn.started and not turn.over.is_set():
                turn.stop()

    def _left(self, place: Place, reader: Reader) -> None:
        if self.channels.others(place, reader):
            return
        for turn in tuple(self._live.values()):
            if turn.place == place and turn.tied:
                turn.stop()

    def _ended(self, turn: Turn, task: "asyncio.Task[None]") -> None:
        turn.over.set()
        later(REMEMBERED, self._live.pop, turn.turn_id, None)

    def _tell(self, place: Place, happening: Happening) -> None:
        if place[0] == "user":
            self._notices.tell(HAPPENED, to_wire(place, happening))

    def _heard(self, body: Any) -> None:
        if body is not None:
            self.channels.hear(*from_wire(body))

    def _told_to_stop(self, body: Any) -> None:
        if body is not None:
            self._stop((body[0], body[1], UUID(body[2])))


def check(text: str) -> None:
    """A message of a person or an API."""
    fault = text_fault(text)
    if fault:
        raise Refused(fault, code="text")
    if len(text.encode()) > MAX_MESSAGE:
        raise TooLarge(f"A message has at most {MAX_MESSAGE // 1024} KiB; this one has {len(text.encode()) // 1024}.")
    if not text.strip():
        raise Refused("The message is empty; nothing was sent.", code="empty")
