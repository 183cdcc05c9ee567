"""Connections that are kept between calls: of one connector's hosts and addresses, for some seconds. A new connection to a known host costs more than the rest of a small call."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2

from services.connectors.egress.transport import GuardedTransport
from shared.tasks import spawn

KEPT_S = 10.0
"""How long what was resolved and checked once is used for new calls. Then names are resolved and addresses checked anew."""
Key = tuple[tuple[str, ...], tuple[str, ...]]
"""The hosts and the private addresses that a way is open to: whose connections a call may share."""


@dataclass(eq=False)
class _Kept:
    transport: GuardedTransport
    until: float
    lent: int = 0


class Kept:
    """One for a process. A transport that is too old is not lent any more, and closed when nobody has it."""

    def __init__(self) -> None:
        self._kept: dict[Key, _Kept] = {}

    def lend(self, key: Key, make: Callable[[], GuardedTransport]) -> "Lent":
        """`make` gives a transport that nobody has used yet."""
        loop = asyncio.get_running_loop()
        found = self._kept.get(key)
        if found is None or loop.time() >= found.until:
            found = self._kept[key] = _Kept(make(), loop.time() + KEPT_S)
            loop.call_later(KEPT_S, self._retire, key, found)
        found.lent += 1
        return Lent(found, self._back)

    def _retire(self, key: Key, found: _Kept) -> None:
        if self._kept.get(key) is found:
            del self._kept[key]
        self._close_if_idle(found)

    async def _back(self, found: _Kept) -> None:
        found.lent -= 1
        if found.lent == 0 and asyncio.get_running_loop().time() >= found.until:
            await found.transport.aclose()

    def _close_if_idle(self, found: _Kept) -> None:
        if found.lent == 0:
            spawn(found.transport.aclose(), "kept connections")


class Lent(httpx2.AsyncBaseTransport):
    """A kept transport in the hands of one call. `reached`: what this call's exchanges went to."""

    def __init__(self, kept: _Kept, back: Callable[[_Kept], Awaitable[None]]) -> None:
        self._kept, self._give_back = kept, back
        self._closed = False
        self.reached: tuple[str, ...] = ()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        before, label = len(self._kept.transport.reached), ""
        try:
            response = await self._kept.transport.handle_async_request(request)
            stream = response.extensions.get("network_stream")
            label = str(stream.get_extra_info("reached") or "") if stream is not None else ""
        finally:
            self._add(*([label] if label else self._kept.transport.reached[before:]))
        return response

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            await self._give_back(self._kept)

    def _add(self, *places: str) -> None:
        self.reached = tuple(dict.fromkeys((*self.reached, *places)))
