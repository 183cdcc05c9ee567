"""One outside exchange over HTTP: sent with its credential, tried again where that may help, and answered as it comes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from services.connectors.kinds.base_address import Place
from services.connectors.kinds.credentials import AuthSettings, Shown, with_query
from services.connectors.kinds.failures import explain, too_slow
from services.connectors.kinds.headers import Headers, outward
from services.connectors.kinds.kind import Exchange
from services.connectors.kinds.masking import Mask
from services.connectors.kinds.presenting import Presenting
from services.connectors.kinds.replay import Replay, measured
from services.connectors.kinds.retrying import Retrying
from shared.clock import now
from shared.errors import SchleuseError, Transient

DENIED = 401
CONNECT_S = 10.0
BARE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that have no body unless its length says so."""


@dataclass(frozen=True)
class Asked:
    """What is to be sent. `body_bytes`: its length where it is known."""

    method: str
    place: Place
    headers: Headers = ()
    body: Replay | None = None
    body_bytes: int | None = None


def tunnelled(exchange: Exchange, method: str, place: Place, settings: AuthSettings) -> Asked:
    """What a tunnelled exchange sends: the asker's headers as far as they may leave, and its body."""
    head = exchange.request.http
    assert head is not None
    headers = outward(head.headers, (settings.auth_header,))
    bare = head.body_bytes is None and method in BARE
    body = None if head.body_bytes == 0 or bare else Replay(exchange.body())
    return Asked(method, place, headers, body, head.body_bytes or None)


@asynccontextmanager
async def in_time(exchange: Exchange, host: str) -> AsyncIterator[None]:
    """The connector's time for a whole call. Transient (code `timeout`), chained to nothing."""
    seconds, slow = exchange.request.settings.timeout_s, False
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        slow = True
    if slow:
        raise too_slow(host, exchange.request.connector, seconds)


class Sending:
    """Of one call. Close it when its answer was read."""

    def __init__(self, exchange: Exchange, settings: AuthSettings, asked: Asked, retrying: Retrying) -> None:
        self._exchange, self._settings, self._asked, self._retrying = exchange, settings, asked, retrying
        self._transport = exchange.way.http()
        self._until = asyncio.get_running_loop().time() + settings.timeout_s
        secret = exchange.secrets[0] if asked.place.own and exchange.secrets else None
        self._presenting = Presenting(exchange, settings, secret)

    async def close(self) -> None:
        await self._transport.aclose()

    def mask(self) -> Mask:
        return self._presenting.mask()

    async def answer(self, asked: Asked) -> httpx2.Response:
        """Its body is still to be read, and it to be closed. Refused, Transient or Permanent when there is none."""
        self._asked, tried = asked, 0
        while True:
            response, failure = await self._once()
            if response is not None and response.status_code == DENIED and await self._another():
                await response.aclose()
                continue
            wait = self._wait(tried, response, failure)
            if wait is None:
                return _settled(response, failure)
            await self._rest(response, failure, wait)
            tried += 1

    async def _once(self) -> tuple[httpx2.Response | None, SchleuseError | None]:
        request = self._request(await self._presenting.shown())
        try:
            return await self._transport.handle_async_request(request), None
        except httpx2.HTTPError as error:
            failure = explain(error, self._asked.place.target.host)
        except Transient as error:
            failure = error
        return None, failure

    async def _another(self) -> bool:
        return self._again and await self._presenting.another()

    @property
    def _again(self) -> bool:
        """Whether the request's body is still at hand."""
        return self._asked.body is None or self._asked.body.again

    def _wait(self, tried: int, response: httpx2.Response | None, failure: SchleuseError | None) -> float | None:
        left = self._until - asyncio.get_running_loop().time()
        if not self._again:
            return None
        if failure is not None:
            return self._retrying.after_error(tried, self._asked.method, failure, left)
        assert response is not None
        said: Mapping[str, str] = response.headers
        return self._retrying.after_status(tried, self._asked.method, response.status_code, said, now(), left)

    async def _rest(self, response: httpx2.Response | None, failure: SchleuseError | None, wait: float) -> None:
        if response is not None:
            await response.aclose()
        why = f"status {response.status_code}" if response is not None else failure.code if failure else ""
        self._exchange.note(f"tried again after {why}")
        await asyncio.sleep(wait)

    def _request(self, shown: Shown) -> httpx2.Request:
        asked, left = self._asked, max(0.1, self._until - asyncio.get_running_loop().time())
        url = f"{asked.place.target.scheme}://{asked.place.target.authority}"
        url += with_query(asked.place.target.path_and_query, self._settings.auth_parameter, shown)
        headers = [*asked.headers, ("accept-encoding", "identity"), *shown.headers]
        content = asked.body.chunks() if asked.body is not None else None
        if content is not None and asked.body_bytes is not None:
            headers.append(("content-length", str(asked.body_bytes)))
            content = measured(content, asked.body_bytes)
        timeout = {"connect": CONNECT_S, "read": left, "write": left, "pool": left}
        return httpx2.Request(asked.method, url, headers=headers, content=content, extensions={"timeout": timeout})


def _settled(response: httpx2.Response | None, failure: SchleuseError | None) -> httpx2.Response:
    if response is None:
        assert failure is not None
        raise failure
    return response
