"""The pages beside the chat: all conversations with a search, what was spent, and the end of a guest's visit."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.callers import NOBODY, Caller
from services.agent.chat.front import Asked, Front
from services.agent.chat.reading import Reading
from services.agent.chat.showing import age, dollars, excerpt
from services.agent.conversations import views
from shared.clock import now
from shared.errors import Refused
from shared.identity.doors import go

MOST_FOUND = 50
MOST_LISTED = 200
MOST_TURNS = 50


@dataclass(frozen=True)
class TurnRow:
    """A turn on the page about usage."""

    conversation_id: UUID
    at: datetime
    age: str
    model: str
    app: str
    outcome: str
    iterations: int
    calls: int
    cost: str


class MorePages:
    def __init__(self, front: Front, reading: Reading) -> None:
        self._front, self._reading, self._chat = front, reading, front.chat

    def routes(self) -> list[Route]:
        page = self._front.page
        return [
            Route("/conversations", page(self.conversations)),
            Route("/usage", page(self.usage)),
            Route("/leave", page(self.leave), methods=["GET"]),
            Route("/leave", page(self.left), methods=["POST"]),
        ]

    async def conversations(self, asked: Asked) -> Response:
        q = asked.request.query_params.get("q", "").strip()
        found, notice = [], ""
        if q and not asked.caller.is_nobody:
            try:
                hits = await self._chat.conversations.search(asked.caller.me, q, MOST_FOUND)
                found = [(row, message, excerpt(message.text, q)) for row, message in hits]
            except Refused as error:
                notice = error.message
        rows = [] if q else await self._reading.rows(asked.caller, MOST_LISTED)
        most = MOST_FOUND if q else MOST_LISTED
        shown = {"q": "" if notice else q, "found": found, "rows": rows, "most": most, "notice": notice}
        return self._front.show(
            asked.caller, "conversations.html", 422 if notice else 200, here="conversations", **shown
        )

    async def usage(self, asked: Asked) -> Response:
        me = asked.caller.me
        meter = await self._reading.meter(me, None)
        return self._front.show(
            asked.caller, "usage.html", here="usage", meter=meter, turns=await self._turns(asked.caller)
        )

    async def _turns(self, caller: Caller) -> list[TurnRow]:
        """Of a guest there are none: what remains is a ledger line (rule 22)."""
        if caller.me.is_guest:
            return []
        async with self._chat.db.owned(caller.me.owner) as tx:
            rows = await views.list_turns(tx, caller.me.owner, MOST_TURNS)
        at = now()
        return [
            TurnRow(
                row["conversation_id"], row["ended_at"], age(row["ended_at"], at), row["model"], row["app"], row["outcome"],
                row["iterations"], row["calls"], dollars(row["cost"]),
            )
            for row in rows
        ]  # fmt: skip

    async def leave(self, asked: Asked) -> Response:
        if asked.caller.visit is None:
            return go("/")
        text = "Your conversations and everything in them are gone at once. Nothing of it was kept anywhere."
        return self._front.tell(asked.caller, 200, "End this visit", text, form="/leave", button="End it and forget")

    async def left(self, asked: Asked) -> Response:
        self._front.check(asked)
        if asked.caller.visit is not None:
            self._chat.visits.end(asked.caller.visit)
        answer = self._front.tell(Caller(NOBODY), 200, "Your visit is over", "Everything of it is gone.")
        self._front.callers.forget(answer)
        return answer
