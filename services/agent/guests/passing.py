"""Where two instances share a port, a guest's request may meet the one that does not know them: it is passed on to the one that does.

Over a Unix socket that only the agent's own OS user can open. What passes is the request as it came; whoever takes it judges it anew.
"""

import http.cookies
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.errors import Refused
from shared.web.serve import HttpServer

SOCKET = "guests.sock"
"""In the run folder of each instance."""
PATIENCE = httpx2.Timeout(90.0, connect=1.0)
"""Seconds: a stream shows a sign of life every fifteen."""
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "proxy-connection"})
"""Headers of one connection, not of the request."""


class Passing:
    """ASGI middleware, and a part that takes in what other instances pass on. `places`: their sockets, by the name of each; without any it does nothing."""

    def __init__(self, app: ASGIApp, me: str, places: Mapping[str, Path], cookie: str, others: frozenset[str]) -> None:
        """`cookie` is the guest's; a request with one of `others` is not a guest's, and stays here."""
        self._app, self._me, self._places = app, me, places
        self._cookie, self._others = cookie, others
        self._clients: dict[Path, httpx2.AsyncClient] = {}
        self._server: HttpServer | None = None

    def take(self, app: ASGIApp, path: Path, closing: Callable[[], None]) -> None:
        """`app` answers what comes by this socket."""
        if self._places:
            self._path, self._server = path, HttpServer(app, path=path, closing=closing)

    async def start(self) -> None:
        if self._server is not None:
            await self._server.start()
            self._path.chmod(0o600)

    async def stop(self) -> None:
        for client in self._clients.values():
            await client.aclose()
        if self._server is not None:
            await self._server.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = self._elsewhere(scope) if scope["type"] == "http" else None
        if place is None:
            await self._app(scope, receive, send)
            return
        answer = await self._pass(Request(scope, receive), place)
        if answer is None:  # nobody is there any more: to us they are new
            await self._app(scope, receive, send)
        else:
            await answer(scope, receive, send)

    def _elsewhere(self, scope: Scope) -> Path | None:
        if not self._places:
            return None
        headers = {name: value for name, value in scope["headers"] if name in (b"cookie", b"authorization")}
        cookies = _cookies(headers.get(b"cookie", b"").decode("latin-1"))
        if b"authorization" in headers or self._others & set(cookies):
            return None
        place = cookies.get(self._cookie, "").partition(".")[0]
        return None if place == self._me else self._places.get(place)

    async def _pass(self, request: Request, place: Path) -> Response | None:
        """None when the other instance is not there, and nothing of the request has been read."""
        headers = [(name, value) for name, value in request.headers.raw if name.decode("latin-1") not in _HOP]
        url = f"http://instance{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        content = None if request.method in ("GET", "HEAD") else _body(request)
        client = self._client(place)
        try:
            found = await client.send(
                client.build_request(request.method, url, headers=headers, content=content), stream=True
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return None
        except httpx2.TransportError:
            raise Refused("The part of the workspace that knew you has just ended. What you said there is gone.", code="over") from None  # fmt: skip
        answer = StreamingResponse(_told(found), found.status_code)
        answer.raw_headers = [pair for pair in found.headers.raw if pair[0].decode("latin-1").lower() not in _HOP]
        return answer

    def _client(self, place: Path) -> httpx2.AsyncClient:
        if place not in self._clients:
            plain = ssl.SSLContext(
                ssl.PROTOCOL_TLS_CLIENT
            )  # never used on a Unix socket; the usual one takes long to load
            way = httpx2.AsyncHTTPTransport(uds=str(place), verify=plain, limits=httpx2.Limits(max_connections=None))
            self._clients[place] = httpx2.AsyncClient(transport=way, timeout=PATIENCE)
        return self._clients[place]


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for part in request.stream():
            yield part
    except ClientDisconnect:
        return


async def _told(found: httpx2.Response) -> AsyncIterator[bytes]:
    """Ends with whoever listens: then the other instance sees them hang up, too."""
    try:
        async for part in found.aiter_raw():
            yield part
    except httpx2.TransportError:
        return
    finally:
        await found.aclose()


def _cookies(header: str) -> dict[str, str]:
    found: http.cookies.SimpleCookie = http.cookies.SimpleCookie()
    try:
        found.load(header)
    except http.cookies.CookieError:
        return {}
    return {name: each.value for name, each in found.items()}
