"""HTTP as an attacker speaks it: any Host, any Origin, no cleverness. Bodies are read up to a limit."""

import asyncio
import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

LIMIT = 2 * 1024**2
PATIENCE = 30.0


@dataclass(frozen=True)
class Answer:
    """`headers` by lower-case name; repeated ones are joined by a line break."""

    status: int
    headers: dict[str, str]
    body: str

    def header(self, name: str) -> str:
        return self.headers.get(name.lower(), "")


class Front(str):
    """The url of a front as people type it. `way`: the address and port where its service listens, behind any proxy."""

    way: tuple[str, int]

    @classmethod
    def at(cls, url: str, host: str, port: int) -> "Front":
        front = cls(url)
        front.way = (host, port)
        return front


def way_to(base: str) -> tuple[str, int]:
    """Where to connect for a url."""
    if isinstance(base, Front):
        return base.way
    place = urlsplit(base)
    return place.hostname or "", place.port or 80


async def get(base: str, path: str, headers: dict[str, str] | None = None) -> Answer:
    return await send(base, "GET", path, headers)


async def send(base: str, method: str, path: str, headers: dict[str, str] | None = None, body: str = "") -> Answer:
    """OSError (or HTTPException) when there is no answer."""
    return await asyncio.to_thread(_send, base, method, path, headers or {}, body)


async def shut(base: str) -> bool:
    """Whether the site is switched off: then it answers everything with 403 (rule 27)."""
    return (await get(base, "/")).status == 403


def _send(base: str, method: str, path: str, headers: dict[str, str], body: str) -> Answer:
    connection = http.client.HTTPConnection(*way_to(base), timeout=PATIENCE)
    try:
        connection.request(method, path, body.encode() or None, {"Host": urlsplit(base).netloc} | headers)
        answer = connection.getresponse()
        found: dict[str, str] = {}
        for name, value in answer.getheaders():
            key = name.lower()
            found[key] = f"{found[key]}\n{value}" if key in found else value
        return Answer(answer.status, found, answer.read(LIMIT).decode(errors="replace"))
    finally:
        connection.close()
