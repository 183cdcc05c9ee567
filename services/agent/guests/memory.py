"""Conversations of guests: the same words as those of users, in memory, with bounds."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from services.agent.conversations.domain import MOST_WAITING, Conversation, Message, ToolCall, TurnRecord
from services.agent.domain import mend
from services.agent.guests.domain import MOST_BYTES, MOST_TALKS, Talk, Visit, size_of, title_of
from services.agent.guests.visits import Visits
from services.agent.owners.domain import Me
from shared.clock import now
from shared.errors import Conflict, NotFound, TooMany
from shared.ids import new_id


class GuestConversations:
    """Implements conversations.domain.Conversations. Everything raises NotFound once the visit is over."""

    def __init__(self, visits: Visits) -> None:
        self._visits = visits

    async def open(self, me: Me, conversation_id: UUID | None) -> Conversation:
        """One of this visit's, or a new one. TooMany above 20."""
        visit = self._visits.of(me)
        if conversation_id is not None:
            return _talk(visit, conversation_id).shown
        if len(visit.talks) >= MOST_TALKS:
            raise TooMany(f"A guest has at most {MOST_TALKS} conversations. Delete one, or sign in.", code="talks")
        at = now()
        talk = Talk(Conversation(new_id(), "", at, at))
        visit.talks[talk.shown.conversation_id] = talk
        return talk.shown

    async def list(self, me: Me, limit: int = 50) -> Sequence[Conversation]:
        found = sorted(self._visits.of(me).talks.values(), key=lambda talk: talk.shown.changed_at, reverse=True)
        return [talk.shown for talk in found[:limit]]

    async def messages(
        self, me: Me, conversation_id: UUID, before: int | None = None, limit: int = 200
    ) -> Sequence[Message]:
        kept = _talk(self._visits.of(me), conversation_id).messages
        end = len(kept) if before is None else max(0, min(before - 1, len(kept)))
        return kept[max(0, end - limit) : end]

    async def begin(self, me: Me, conversation_id: UUID, turn_id: UUID, text: str, app: str) -> int:
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        if len(talk.queue) > MOST_WAITING:
            raise TooMany(f"{MOST_WAITING} messages are waiting here already. Wait for an answer.", code="busy")
        if visit.bytes + len(text.encode("utf-8", "replace")) > MOST_BYTES:
            raise TooMany(
                f"A visit holds at most {MOST_BYTES // 1024**2} MiB of text, and this one is full. Delete a conversation, or sign in.",
                code="full",
            )
        self._visits.count(visit)
        talk.queue[turn_id] = text
        return len(talk.queue) - 1

    async def start(self, me: Me, conversation_id: UUID, turn_id: UUID) -> Sequence[Message]:
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        if next(iter(talk.queue), None) != turn_id:
            raise Conflict("Another turn of this conversation is not over yet.", code="not_yet")
        text = talk.queue[turn_id]
        if not talk.shown.title:
            talk.shown = replace(talk.shown, title=title_of(text))
        visit.bytes += talk.add("user", text, now(), turn_id=turn_id)
        return list(talk.messages)

    async def calling(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        _talk(self._visits.of(me), conversation_id).open = tuple(calls)

    async def called(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        talk.open = ()
        mended = tuple(_mended(each) for each in calls)
        flagged = mended != tuple(calls)
        visit.bytes += talk.add("tools", "", now(), turn_id=turn_id, calls=mended, flagged=flagged)

    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None:
        talk = _talk(self._visits.of(me), conversation_id)
        known = talk.shown.tainted
        talk.shown = replace(
            talk.shown, tainted=(*known, *(each for each in dict.fromkeys(sources) if each not in known))
        )

    async def clear(self, me: Me, conversation_id: UUID) -> None:
        talk = _talk(self._visits.of(me), conversation_id)
        talk.shown = replace(talk.shown, tainted=())

    async def end(self, me: Me, record: TurnRecord, *, aborted: bool = False) -> None:
        """The reply as far as it came. No row of the turn: what remains of a guest is its ledger line (rule 22). Of a visit that is over, nothing."""
        if not self._visits.is_here(me):
            return
        visit = self._visits.of(me)
        talk = _talk(visit, record.conversation_id)
        if talk.open:
            cut = [replace(each, state="interrupted", result=None) for each in talk.open]
            await self.called(me, record.conversation_id, record.turn_id, cut)
        started = any(each.turn_id == record.turn_id for each in talk.messages)
        if started and (record.reply or aborted or not record.error):
            text = mend(record.reply)
            flagged = text != record.reply
            visit.bytes += talk.add("reply", text, now(), turn_id=record.turn_id, aborted=aborted, flagged=flagged)
        if record.error:
            visit.bytes += talk.add("note", mend(record.error), now(), turn_id=record.turn_id)
        talk.queue.pop(record.turn_id, None)
        talk.cost = None if record.cost is None or talk.cost is None else talk.cost + record.cost

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None:
        visit = self._visits.of(me)
        visit.bytes += _talk(visit, conversation_id).add("note", mend(text), now())

    async def search(self, me: Me, words: str, limit: int = 20) -> Sequence[tuple[Conversation, Message]]:
        """Messages that hold every one of the words, newest first."""
        wanted = words.casefold().split()
        found = [
            (talk.shown, message)
            for talk in self._visits.of(me).talks.values()
            for message in talk.messages
            if wanted and all(word in message.text.casefold() for word in wanted)
        ]
        return sorted(found, key=lambda pair: pair[1].at, reverse=True)[:limit]

    async def rename(self, me: Me, conversation_id: UUID, title: str) -> None:
        talk = _talk(self._visits.of(me), conversation_id)
        talk.shown = replace(talk.shown, title=title_of(mend(title)))

    async def delete(self, me: Me, conversation_id: UUID) -> None:
        """Conflict while a turn runs in it."""
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        if talk.queue:
            raise Conflict("An answer is still being written here. Stop it first.", code="running")
        del visit.talks[conversation_id]
        visit.bytes = sum(_size(each) for each in visit.talks.values())

    def costs(self, me: Me) -> dict[UUID, Decimal | None]:
        """What each conversation has cost so far; None: not known."""
        return {each: talk.cost for each, talk in self._visits.of(me).talks.items()}


def _talk(visit: Visit, conversation_id: UUID) -> Talk:
    talk = visit.talks.get(conversation_id)
    if talk is None:
        raise NotFound("There is no such conversation.", code="conversation")
    return talk


def _size(talk: Talk) -> int:
    return sum(size_of(message) for message in talk.messages)


def _mended(call: ToolCall) -> ToolCall:
    return replace(call, result=_mend_deep(call.result), shown=mend(call.shown))


def _mend_deep(value: Any) -> Any:
    match value:
        case str():
            return mend(value)
        case list() | tuple():
            return [_mend_deep(each) for each in value]
        case dict():
            return {mend(str(key)): _mend_deep(each) for key, each in value.items()}
        case _:
            return value
