"""Somebody who talks with the agent while it is measured: a person of the throwaway stack, with a key; or guests, one after another."""

import asyncio
import json
import re
import secrets
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2

from infra.bench.target import Target
from infra.cli.access import make_access
from shared.errors import Refused
from shared.operator import call
from shared.settings import Settings

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
MOST_SECONDS = 60.0


def add_person(target: Target) -> str:
    """A key of the API of somebody new, who may use what an admin may."""
    state, handle, password = target.layout.state, f"bench-{secrets.token_hex(4)}", secrets.token_urlsafe(24)
    made = call(state, "console", "people.invite", {"role": "admin", "name": "Bench", "handle": handle})
    link = str(made["url"])
    base = "/".join(link.split("/")[:3])
    with httpx2.Client(base_url=base, timeout=30, trust_env=False) as http:
        found = TOKEN.search(http.get(link).text)
        if found is None:
            raise Refused("the console shows no form for the invitation")
        said = {"token": found[1], "name": "Bench", "handle": handle, "password": password, "again": password}
        answer = http.post(link, data=said, headers={"Origin": base})
        if answer.status_code != 303:
            raise Refused(f"the console took no new person: {answer.status_code}")
    return make_access(state, "apikey", handle, "bench")["key"]


@dataclass(frozen=True)
class Heard:
    """Seconds from the request to the first piece of text and to the end of the turn."""

    first: float
    whole: float
    conversation: str


class Talker:
    """One kept connection to the workspace. `key` empty: a guest."""

    def __init__(self, target: Target, key: str = "") -> None:
        settings = Settings.load("agent", target.layout.state)
        self._place, self._host = (settings.host, settings.port), settings.url.split("//", 1)[1]
        self._headers = f"Authorization: Bearer {key}\r\n" if key else ""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(*self._place)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()

    async def say(self, text: str, conversation: str = "") -> Heard:
        """A turn as a stream. Refused when it does not end well."""
        began, first, place = time.perf_counter(), 0.0, conversation
        body = {"text": text} | ({"conversation_id": conversation} if conversation else {})
        async with asyncio.timeout(MOST_SECONDS):
            head = await self._send("POST", "/api/v1/turns", body, "Accept: text/event-stream\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise Refused(f"the agent took no turn: {head.splitlines()[0].decode()}")
            async for kind, data in self._events():
                if kind == "accepted":
                    place = data["conversation_id"]
                elif kind == "text" and not first:
                    first = time.perf_counter() - began
                elif kind in {"stopped", "failed"}:
                    raise Refused(f"a turn did not end well: {data['error']}")
        return Heard(first, time.perf_counter() - began, place)

    async def _send(self, method: str, path: str, body: Any, more: str = "") -> bytes:
        assert self._reader is not None and self._writer is not None, "enter it first"
        raw = json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(raw)}\r\n{self._headers}{more}\r\n"
        )
        self._writer.write(head.encode() + raw)
        return await self._reader.readuntil(b"\r\n\r\n")

    async def visit(self, text: str) -> None:
        """A guest comes, says something, and goes; nothing of them is left."""
        body = {"text": text, "wait": True}
        head = await self._send("POST", "/api/v1/turns", body)
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert self._reader is not None
        told = json.loads(await self._reader.readexactly(int(length[1]) if length else 0))
        cookie = re.search(rb"(?i)set-cookie: ([^;]+)", head)
        if not head.startswith(b"HTTP/1.1 200") or cookie is None:
            raise Refused(f"the agent took no guest: {head.splitlines()[0].decode()}")
        more = f"Cookie: {cookie[1].decode()}\r\nX-Form-Token: {told['token']}\r\n"
        left = await self._send("DELETE", "/api/v1/me/visit", {}, more)
        if not left.startswith(b"HTTP/1.1 204"):
            raise Refused(f"a guest could not leave: {left.splitlines()[0].decode()}")

    async def _events(self) -> Any:
        """(kind, data) of server-sent events, until the answer ends."""
        assert self._reader is not None
        rest, kind = b"", ""
        while size := int(await self._reader.readline(), 16):
            rest += await self._reader.readexactly(size)
            await self._reader.readline()
            *lines, rest = rest.split(b"\n")
            for line in lines:
                name, _, value = line.partition(b": ")
                if name == b"event":
                    kind = value.decode()
                elif name == b"data":
                    yield kind, json.loads(value)
        await self._reader.readline()
