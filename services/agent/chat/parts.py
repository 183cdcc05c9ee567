"""What the chat is put together from."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Conversations, TurnRecord
from services.agent.guests.memory import GuestConversations
from services.agent.guests.visits import Visits
from services.agent.loop.domain import Happening, TurnRef
from services.agent.notifications.kept import Notifications
from services.agent.owners.domain import Me
from services.agent.owners.door import OwnerDoor
from services.agent.spend.domain import Standing
from shared.db import Database
from shared.db.notices import Notices
from shared.identity import Sessions
from shared.identity.doors import Surface


class Talking(Protocol):
    """The loop's desk, as the chat sees it."""

    async def submit(self, me: Me, conversation_id: UUID | None, text: str, *, tied: bool = False) -> TurnRef: ...
    def watch(
        self, me: Me, conversation_id: UUID, after: tuple[UUID, int] | None = None
    ) -> AsyncIterator[Happening]: ...
    async def stop_turn(self, me: Me, conversation_id: UUID) -> None: ...
    async def wait(self, me: Me, turn_id: UUID) -> TurnRecord: ...
    def leave(self, me: Me) -> None: ...


class Purse(Protocol):
    """Of the ledger: what is shown."""

    async def standing(self, account: Owner) -> Standing: ...


@dataclass(frozen=True)
class Chat:
    """`conversations` are everybody's, `guests` those of guests alone."""

    surface: Surface
    db: Database
    notices: Notices
    sessions: Sessions
    door: OwnerDoor
    visits: Visits
    conversations: Conversations
    guests: GuestConversations
    desk: Talking
    purse: Purse
    notifications: Notifications
