"""What the chat reads of a caller's things, from Postgres for people and from memory for guests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from services.agent.chat import views
from services.agent.chat.callers import Caller
from services.agent.chat.parts import Chat
from services.agent.chat.showing import Block, Meter, Row, blocks_of, meter_of, row_of
from services.agent.conversations.domain import Conversation, Message
from services.agent.owners.domain import Me
from shared.clock import now

MOST_SHOWN = 100
"""Messages that a page shows at once; the earlier ones are a link away."""
MOST_LISTED = 50


@dataclass(frozen=True)
class Shown:
    """A conversation as a page shows it. `earlier`: the number before which there is more."""

    conversation: Conversation
    blocks: Sequence[Block]
    earlier: int | None
    answered: frozenset[UUID]


class Reading:
    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def show(self, me: Me, conversation_id: UUID, before: int | None = None) -> Shown:
        """NotFound for what is not theirs (rule 24)."""
        conversation = await self._chat.conversations.open(me, conversation_id)
        messages = await self._chat.conversations.messages(me, conversation_id, before, MOST_SHOWN)
        earlier = messages[0].number if messages and messages[0].number > 1 else None
        blocks = blocks_of(messages, self._chat.surface.console_url)
        return Shown(conversation, blocks, earlier, frozenset(_answered(messages)))

    async def turn(self, me: Me, conversation_id: UUID, turn_id: UUID) -> tuple[Sequence[Block], Sequence[str]]:
        """What became of one of the newest turns, and what untrusted text its conversation has read by now."""
        messages = await self._chat.conversations.messages(me, conversation_id, None, MOST_SHOWN)
        mine = [each for each in messages if each.turn_id == turn_id]
        conversation = await self._chat.conversations.open(me, conversation_id)
        return blocks_of(mine, self._chat.surface.console_url), conversation.tainted

    async def is_theirs(self, me: Me, conversation_id: UUID) -> None:
        """NotFound unless it is."""
        await self._chat.conversations.open(me, conversation_id)

    async def is_answered(self, me: Me, conversation_id: UUID, turn_id: UUID) -> bool:
        messages = await self._chat.conversations.messages(me, conversation_id, None, MOST_SHOWN)
        return turn_id in set(_answered(messages))

    async def costs(self, me: Me, conversations: Sequence[UUID]) -> Mapping[UUID, Decimal | None]:
        """What each has cost so far; None: not known. One that has had no turn yet is not in it."""
        if me.is_guest:
            return self._chat.guests.costs(me)
        async with self._chat.db.owned(me.owner) as tx:
            return await views.costs(tx, me.owner, conversations)

    async def rows(self, caller: Caller, limit: int = MOST_LISTED) -> Sequence[Row]:
        """Their conversations, the one that changed last first."""
        if caller.is_nobody:
            return []
        me = caller.me
        found = await self._chat.conversations.list(me, limit)
        costs = await self.costs(me, [each.conversation_id for each in found])
        at = now()
        return [row_of(each, costs.get(each.conversation_id, Decimal(0)), at, kept=not me.is_guest) for each in found]

    async def meter(self, me: Me, conversation_id: UUID | None) -> Meter:
        """For display; the cap itself is held by the ledger."""
        standing = await self._chat.purse.standing(me.account)
        cost: Decimal | None = Decimal(0)
        if conversation_id is not None:
            cost = (await self.costs(me, [conversation_id])).get(conversation_id, Decimal(0))
        return meter_of(standing, cost, me.zone, now(), guests=me.is_guest)


def _answered(messages: Sequence[Message]) -> list[UUID]:
    return [each.turn_id for each in messages if each.turn_id is not None and each.part in ("reply", "note")]
