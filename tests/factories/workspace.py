"""The workspace on a real database and a real port, so that streams are streams: people, guests, the loop; the model says what a test wants."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from schemas.model import Data
from schemas.outward import Owner
from services.agent.chat.parts import Chat
from services.agent.chat.web import make_web
from services.agent.conversations.both import AllConversations
from services.agent.conversations.kept import KeptConversations
from services.agent.files.parts import make_files
from services.agent.guests.memory import GuestConversations
from services.agent.guests.visits import Visits
from services.agent.intake import AgentIntake
from services.agent.loop.desk import Desk
from services.agent.loop.models import Chosen
from services.agent.loop.turns import Turns
from services.agent.notifications.kept import Notifications
from services.agent.notifications.parts import make_toasts
from services.agent.owners.access import AccessKeys
from services.agent.owners.deciders import Deciders
from services.agent.owners.delegations import Delegations
from services.agent.owners.domain import Me
from services.agent.owners.door import OwnerDoor
from services.agent.owners.key_watch import KeyWatch
from services.agent.owners.parts import Owners
from services.agent.owners.settings import AgentSettings
from services.agent.spend.ledger import Ledger
from services.agent.spend.prices import Prices
from services.agent.tables import app
from services.agent.tasks.kept import KeptTasks
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool
from shared.bus import Received
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.health import Health
from shared.identity import Sessions, TokenReader
from shared.identity.doors import Surface
from shared.identity.streams import Streams
from shared.settings import Settings
from shared.signing import PublicKeys
from shared.testing.servers import Servers
from shared.web.serve import HttpServer
from tests.factories.identity import CONSOLE, Console
from tests.services.site.conftest import received

IDENTITY = ("standings", "identity_sessions", "ended_sign_ins", "used_tokens", "sign_in_codes")


class Look(Arguments):
    """What the test's own tool takes."""

    at: str


@dataclass
class Says:
    """The model: `say TEXT` is said, `slowly N` says N words as `go` lets it, `use TEXT` uses the tool first, `fail` breaks."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    found: Found = field(default_factory=lambda: Found({"text": "hello"}, "5 letters"))

    def begin(self) -> None:
        """As if nothing had been asked yet."""
        self.go.set()
        self.go, self.found = asyncio.Event(), Found({"text": "hello"}, "5 letters")

    def model(self) -> FunctionModel:
        return FunctionModel(self._whole, stream_function=self._stream, model_name="test")

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = [each async for each in self._stream(messages, info)]
        return ModelResponse([TextPart("".join(each for each in said if isinstance(each, str)))])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        told = [part for part in last.parts if isinstance(part, ToolReturnPart)]
        asked = [str(part.content) for part in last.parts if isinstance(part, UserPromptPart)]
        verb, _, rest = asked[-1].partition(" ") if asked else ("say", "", "")
        if told:
            yield f"It says {told[-1].content}."
        elif verb == "use":
            yield {0: DeltaToolCall("look", json.dumps({"at": rest}), tool_call_id="call-1")}
        elif verb == "slowly":
            go = self.go
            for number in range(int(rest)):
                yield f"word{number} "
                if number == 5:
                    await go.wait()
        elif verb == "fail":
            raise RuntimeError("the test broke it")
        else:
            yield rest or "."

    async def choose(self, me: Me) -> Chosen:
        return Chosen(self.model())

    async def look(self, asked: Asked, given: Look) -> Found:
        return self.found

    def tools(self) -> tuple[Tool, ...]:
        return (Tool("look", "Looks at something.", Look, self.look, EVERYBODY),)


class NoCards:
    async def ask(self, asked: Asked, tool: Tool, arguments: Arguments) -> str:
        raise AssertionError("nothing waits in these tests")


class Living:
    """`intake` hears what the console says; `says` is the model."""

    def __init__(self, db: Database, port: int, state: Path, settings: Settings | None = None, url: str = "") -> None:
        """`settings` and `url` make it one of two instances behind one address."""
        self.db, self.people, self.says = db, Console("agent"), Says()
        self.url, self.here = url or f"http://127.0.0.2:{port}", f"http://127.0.0.2:{port}"
        self.surface = Surface("agent", self.url, CONSOLE)
        self.notices = Notices(db, several=False)
        keys = PublicKeys({"identity": {self.people.key.key_id: self.people.key.public}})
        self.owners = self._owners(keys)
        self.intake = AgentIntake(self.owners, lambda: None)
        self.visits = Visits(settings.part if settings else "1")
        kept = KeptConversations(db)
        self.guests = GuestConversations(self.visits)
        self.conversations = AllConversations(kept, self.guests)
        self.ledger = Ledger(db, self, Prices(state))
        turns = Turns(self.conversations, self.ledger, self.says, self.says.tools, NoCards())  # type: ignore[arg-type]
        self.desk = Desk(self.conversations, turns, self.notices)
        self.cap: Decimal | None = Decimal("5.00")
        self.chat = Chat(
            self.surface, db, self.notices, self.owners.sessions, self.owners.door, self.visits, self.conversations,
            self.guests, self.desk, self.ledger, Notifications(db, self.notices),
        )  # fmt: skip
        self.toasts = make_toasts(self.chat.notifications, KeptTasks(db), self.visits)
        root = state / "workspace"
        root.mkdir(mode=0o700, exist_ok=True)
        self.files = make_files(root, db)
        also = self.files.also(self.toasts.also(lambda *_: None))
        self.web = make_web(
            self.chat, lambda front: [*self.toasts.pages(front), *self.files.pages(front)], also, settings
        )
        self.streams = self.owners.streams
        self.http = HttpServer(self.web.app, host="127.0.0.2", port=port, closing=self.close)

    def _owners(self, keys: PublicKeys) -> Owners:
        sessions = Sessions(self.db, TokenReader(keys, "agent", CONSOLE))
        access, streams = AccessKeys(self.db, keys), Streams(self.db)
        watch = KeyWatch(access)
        door = OwnerDoor(self.db, sessions, access, streams, watch, self.surface.cookie)
        settings = AgentSettings(self.db, keys, self.notices, Health("agent"))
        return Owners(keys, Deciders(keys), settings, Delegations(self.db, keys), sessions, streams, watch, door)

    def cap_of(self, account: Owner) -> Decimal | None:
        return self.cap

    def close(self) -> None:
        self.owners.close()
        self.web.close()
        self.desk.close()

    async def start(self) -> None:
        for part in (
            self.ledger,
            self.streams,
            self.owners.watch,
            self.visits,
            self.toasts.guests,
            self.web.passing,
            self.http,
        ):
            await part.start()

    async def stop(self) -> None:
        self.says.go.set()
        for part in (
            self.http,
            self.web.passing,
            self.desk,
            self.toasts.guests,
            self.visits,
            self.owners.watch,
            self.streams,
            self.ledger,
        ):
            await part.stop()

    def browser(self, **more: Any) -> httpx2.AsyncClient:
        """Meets this instance, whatever stands in the address bar."""
        host = {"Host": self.url.removeprefix("http://")} if self.url != self.here else {}
        return httpx2.AsyncClient(base_url=self.here, timeout=60, headers=host, **more)

    async def hear(self, handler: Any, data: Data) -> None:
        event: Received[Any] = received(handler.__name__.removeprefix("on_").replace("_", ".", 1), data)
        async with self.db.transaction() as tx:
            await handler(tx, event)

    async def sql(self, statement: str) -> None:
        async with self.db.transaction() as tx:
            await tx.raw.execute(statement)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.2", 0))
        return int(sock.getsockname()[1])


@asynccontextmanager
async def living(servers: Servers, state: Path, settings: Settings | None = None) -> AsyncIterator[Living]:
    db = Database(servers.settings("agent"), pool_size=6)
    await db.start()
    await create_missing(db, app)
    async with db.transaction() as tx:
        for name in IDENTITY:
            await tx.execute(app.tables[f"app.{name}"].delete())
    found = Living(db, free_port(), state, settings)
    await found.start()
    try:
        yield found
    finally:
        await found.stop()
        await found.sql("DELETE FROM app.todo")  # nobody reads what these tests told
        await db.stop()


async def form_token(client: httpx2.AsyncClient, path: str = "/") -> str:
    found = re.search(r'name="token" value="(\w+)"', (await client.get(path)).text)
    assert found, f"{path} has no form"
    return found[1]


async def headers(client: httpx2.AsyncClient) -> dict[str, str]:
    """What a script of the page sends with everything that changes something."""
    me = (await client.get("/api/v1/me")).json()
    host = client.headers.get("host")
    return {"X-Form-Token": me["token"], "Origin": f"http://{host}" if host else str(client.base_url).rstrip("/")}


async def say(client: httpx2.AsyncClient, text: str, conversation: str | UUID | None = None, **more: Any) -> httpx2.Response:  # fmt: skip
    body = {"text": text, "conversation_id": str(conversation) if conversation else None, **more}
    return await client.post("/api/v1/turns", json=body, headers=await headers(client))


async def events(answer: httpx2.Response) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
    """(id, kind, data) of a stream."""
    number = kind = ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            number = value
        elif name == "event":
            kind = value
        elif name == "data":
            yield number, kind, json.loads(value)
