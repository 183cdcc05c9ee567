"""Who sends the bytes of a request: nginx, when it stands in front and can read our copies; else we do."""

import asyncio
from collections.abc import Collection
from uuid import UUID
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from services.agent.downloads.domain import Opened, Registered
from services.agent.downloads.serving import Sent, close, handed_over
from services.agent.downloads.spool import Spool

ASKS = "x-edge-spool"
"""nginx says by it that it can send what lies in the spool; it clears what a client says."""


class Handing:
    """`proxies`: whose word on that counts. Whoever else says so could only get an address that leads nowhere."""

    def __init__(self, spool: Spool, proxies: Collection[str]) -> None:
        self._spool, self._proxies = spool, frozenset(proxies)
        self._making: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, request: Request, found: Registered, opened: Opened) -> Response:
        """`opened` is closed by it, or by the answer."""
        sent = False
        try:
            if self._by_nginx(request) and await self._copy(found, opened):
                return handed_over(found)
            sent = True
            return Sent(found, opened)
        finally:
            if not sent:
                close(opened)

    def _by_nginx(self, request: Request) -> bool:
        peer = request.client.host if request.client is not None else ""
        return request.headers.get(ASKS) == "yes" and peer in self._proxies

    async def _copy(self, found: Registered, opened: Opened) -> bool:
        """Whoever asks for the same meanwhile waits, and finds it there. A request that is given up lets the step in hand end: it reads from `opened`."""
        lock = self._making.setdefault(found.download_id, asyncio.Lock())
        async with lock:
            work = asyncio.ensure_future(asyncio.to_thread(self._spool.put, found.download_id, opened))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                await asyncio.gather(work, return_exceptions=True)
                raise
