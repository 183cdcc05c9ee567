"""The loop on a real database: conversations, ledger and desk as the service wires them; what the model is, each test says."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from pydantic_ai.models import Model

from schemas.outward import Owner
from services.agent.builtin.model import builtin_model
from services.agent.conversations.both import AllConversations
from services.agent.conversations.domain import TurnRecord
from services.agent.conversations.kept import KeptConversations
from services.agent.guests.memory import GuestConversations
from services.agent.guests.visits import Visits, guest
from services.agent.loop.desk import Desk
from services.agent.loop.domain import Happening, TurnRef
from services.agent.loop.models import Chosen, make_model
from services.agent.loop.outside import Outside, outside
from services.agent.loop.turns import Turns
from services.agent.owners.domain import Me
from services.agent.spend.ledger import Ledger
from services.agent.spend.overrides import FILE
from services.agent.spend.prices import Prices
from services.agent.tables import app
from services.agent.tools.domain import Arguments, Asked, Tool
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.ids import fresh_id
from shared.testing.servers import Servers
from tests.counterparts.scripted import Scripted
from tests.counterparts.server import serving

ROWS = (
    "SELECT kind, connector, model, purpose, tokens_in, tokens_out, cost, estimated, app FROM core.usage_ledger"
    " WHERE turn_id = $1 ORDER BY settled_at"
)
PRICES = '["llm/small"]\ninput = "1.00"\noutput = "2.00"\n'
"""Dollars per million tokens."""
TURNS = "SELECT * FROM core.turns WHERE turn_id = $1"


@dataclass
class Setting:
    """What people set, as a test wants it."""

    cap: Decimal | None = None
    wanted: tuple[str, str] | None = None

    def cap_of(self, account: Owner) -> Decimal | None:
        return self.cap

    def model(self) -> tuple[str, str] | None:
        return self.wanted


@dataclass
class Picks:
    """Chooses the test's own model. `connector` empty: it is taken for the built-in one."""

    model: Model
    connector: str = ""

    async def choose(self, me: Me) -> Chosen:
        return Chosen(self.model, self.connector)


class Direct(httpx2.AsyncBaseTransport):
    """Stands for the way out: to the counterpart at once, telling the loop what the connectors would."""

    def __init__(self, port: int, top: str) -> None:
        self._base, self._inner = f"http://127.0.0.1:{port}{top}", httpx2.AsyncHTTPTransport()

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        mine = outside.get() or Outside()
        mine.left = True
        url = f"{self._base}{request.url.path}"
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"host"]
        made = httpx2.Request(
            request.method,
            url,
            headers=[(b"host", b"llm"), *headers],
            stream=request.stream,
            extensions=request.extensions,
        )
        answer = await self._inner.handle_async_request(made)
        mine.call_id, mine.answered = fresh_id(), answer.status_code >= 400
        return answer


@asynccontextmanager
async def provided(loop: "Loop", provider: Scripted, prices: str = PRICES) -> AsyncIterator[Scripted]:
    """The loop's turns go to this provider."""
    with serving(provider.handle) as found:
        way = Direct(found.port, "/v1" if provider.speaks == "openai" else "")
        loop.models = Picks(make_model(way, provider.speaks, "llm", "small"), "llm")
        loop.price(prices)
        try:
            yield provider
        finally:
            await loop.desk.stop()
            await way.aclose()


@dataclass
class Cards:
    asked: list[tuple[str, Any]] = field(default_factory=list)

    async def ask(self, asked: Asked, tool: Tool, arguments: Arguments) -> str:
        self.asked.append((tool.name, arguments))
        return "https://console/actions/1"


@dataclass
class Loop:
    """One process's loop. `models` and `tools` can be put while it runs."""

    db: Database
    setting: Setting
    state: Path
    conversations: AllConversations
    visits: Visits
    ledger: Ledger
    cards: Cards
    models: Any
    tools: Sequence[Tool] = ()
    desk: Desk = field(init=False)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.conversations, self.ledger, self, lambda: self.tools, self.cards)  # type: ignore[arg-type]
        self.desk = Desk(self.conversations, self.turns, Notices(self.db, several=False))

    async def choose(self, me: Me) -> Chosen:
        found: Chosen = await self.models.choose(me)
        return found

    async def say(self, me: Me, text: str, conversation: UUID | None = None) -> TurnRecord:
        ref = await self.desk.submit(me, conversation, text)
        return await self.desk.wait(me, ref.turn_id)

    async def follow(self, me: Me, ref: TurnRef, after: int = 0) -> list[Happening]:
        found: list[Happening] = []
        stream = self.desk.watch(me, ref.conversation_id, (ref.turn_id, after))
        async for happening in stream:
            found.append(happening)
            if happening.is_last:
                break
        await stream.aclose()
        return found

    async def rows(self, me: Me, turn_id: UUID) -> list[dict[str, Any]]:
        async with self.db.owned(me.account) as tx:
            return [dict(each) for each in await tx.raw.fetch(ROWS, turn_id)]

    async def turn(self, me: Me, turn_id: UUID) -> list[dict[str, Any]]:
        async with self.db.owned(me.owner) as tx:
            return [dict(each) for each in await tx.raw.fetch(TURNS, turn_id)]

    def price(self, text: str) -> None:
        (self.state / FILE).write_text(text)


def person(role: Any = "owner") -> Me:
    return Me(Owner(kind="user", id=str(fresh_id())), "Kim", role, "Europe/Berlin")


@pytest.fixture
async def loop(servers: Servers, tmp_path: Path) -> AsyncIterator[Loop]:
    db = Database(servers.settings("agent"), pool_size=6)
    await db.start()
    await create_missing(db, app)
    setting, visits = Setting(), Visits()
    ledger = Ledger(db, setting, Prices(tmp_path))
    conversations = AllConversations(KeptConversations(db), GuestConversations(visits))
    await ledger.start()
    found = Loop(db, setting, tmp_path, conversations, visits, ledger, Cards(), Picks(builtin_model()))
    yield found
    await found.desk.stop()
    await ledger.stop()
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await db.stop()


@pytest.fixture
def new_guest(loop: Loop) -> Callable[[], Me]:
    return lambda: guest(loop.visits.begin()[1])
