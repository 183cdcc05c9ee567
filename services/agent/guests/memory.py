"""Conversations of guests: the same words as those of users, in memory, with bounds."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from services.agent.conversations.domain import MOST_WAITING, Conversation, Message, ToolCall, TurnRecord
from services.agent.conversations.folding import fold, read_search
from services.agent.conversations.texts import check_message, check_title, clean, clean_call, title_of
from services.agent.guests.domain import MOST_BYTES, MOST_TALKS, Talk, Visit, size_of
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
        """Refused or TooLarge for the text, TooMany (`busy`, `rate`, `full`)."""
        check_message(text)
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        if len(talk.queue) > MOST_WAITING:
            raise TooMany(
                f"{MOST_WAITING} messages wait in this conversation already. Send it again when one is answered.",
                code="busy",
            )
        if visit.bytes + len(text.encode("utf-8", "replace")) > MOST_BYTES:
            raise TooMany(
                f"A visit holds at most {MOST_BYTES // 1024**2} MiB of text, and this one is full. Delete a conversation, or sign in.",
                code="full",
            )
        self._visits.count(visit)
        talk.queue[turn_id] = text
        return len(talk.queue) - 1

    async def start(self, me: Me, conversation_id: UUID, turn_id: UUID) -> Sequence[Message]:
        """Waits until the turns before it have ended. Conflict (code `turn_over`) when it was taken out of the queue."""
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        while next(iter(talk.queue), None) != turn_id:
            if turn_id not in talk.queue:
                raise Conflict("this turn is over: it was stopped, or its visit is over", code="turn_over")
            await talk.moved.wait()
        text = talk.queue[turn_id]
        if not talk.shown.title:
            talk.shown = replace(talk.shown, title=title_of(text))
        visit.bytes += talk.add("user", text, now(), turn_id=turn_id)
        return list(talk.messages)

    async def saying(self, me: Me, turn_id: UUID, reply: str) -> None:
        """Nothing outlives this process, so what was said so far need not either."""

    async def calling(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        _talk(self._visits.of(me), conversation_id).open = tuple(calls)

    async def called(self, me: Me, conversation_id: UUID, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
        visit = self._visits.of(me)
        talk = _talk(visit, conversation_id)
        talk.open = ()
        cleaned = [clean_call(each) for each in calls]
        kept, flagged = tuple(call for call, _ in cleaned), any(changed for _, changed in cleaned)
        visit.bytes += talk.add("tools", "", now(), turn_id=turn_id, calls=kept, flagged=flagged)

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
        if started and (record.reply or aborted):
            text = clean(record.reply)
            flagged = text != record.reply
            visit.bytes += talk.add("reply", text, now(), turn_id=record.turn_id, aborted=aborted, flagged=flagged)
        if started and record.error and record.outcome in ("failed", "refused") and record.error not in record.reply:
            visit.bytes += talk.add("note", clean(record.error), now(), turn_id=record.turn_id)
        talk.leave(record.turn_id)
        talk.cost = None if record.cost is None or talk.cost is None else talk.cost + record.cost

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None:
        visit = self._visits.of(me)
        visit.bytes += _talk(visit, conversation_id).add("note", clean(text), now())

    async def search(self, me: Me, words: str, limit: int = 20) -> Sequence[tuple[Conversation, Message]]:
        """As for users: all words in any case, what stands in quotes exactly; newest first."""
        wanted = read_search(words)
        found = [
            (talk.shown, message)
            for talk in self._visits.of(me).talks.values()
            for message in talk.messages
            if message.part != "tools"
            and all(word in fold(message.text) for word in wanted.words)
            and all(text in message.text for text in wanted.exact)
        ]
        return sorted(found, key=lambda pair: pair[1].at, reverse=True)[:limit]

    async def rename(self, me: Me, conversation_id: UUID, title: str) -> None:
        talk = _talk(self._visits.of(me), conversation_id)
        talk.shown = replace(talk.shown, title=check_title(title))

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
