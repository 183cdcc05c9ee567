"""In front of every page: known host names only, foreign origins cannot post, and the headers that every answer carries."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from shared.telemetry import span

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE = ("GET", "HEAD", "OPTIONS")


def security_headers(csp: str) -> list[tuple[bytes, bytes]]:
    """The headers of every answer; a response that sets one of them itself keeps its own."""
    return [
        (b"content-security-policy", csp.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), interest-cohort=()"),
    ]


class Guard:
    """ASGI middleware (S8). `hosts` are exact Host values; `origin` is the only Origin that may send non-GET requests.

    `handed_over`: a path where another origin posts, and nobody else: the console, which brings a person who signs in.
    What changes something begins a trace here (the span has no path: a path may hold a token).
    A non-GET request without an Origin header passes here (programs send none); its form token or bearer token decides.
    """

    def __init__(
        self, app: App, *, hosts: Iterable[str], origin: str, csp: str, handed_over: Mapping[str, str] | None = None
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().encode() for host in hosts)
        self._origin = origin.encode()
        self._handed_over = {path: from_.encode() for path, from_ in (handed_over or {}).items()}
        self._headers = security_headers(csp)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        named = [value.lower() for name, value in scope["headers"] if name == b"host"]
        if len(named) != 1 or named[0] not in self._hosts:
            await self._refuse(send, 421, "This server does not answer for that host name.")
            return
        if scope["method"] not in SAFE and not self._may_send(scope["path"], headers):
            await self._refuse(send, 403, "This request came from another site and was refused.")
            return
        if scope["method"] in SAFE:
            await self._app(scope, receive, self._with_headers(send))
            return
        with span(f"http {scope['method']}"):
            await self._app(scope, receive, self._with_headers(send))

    def _may_send(self, path: str, headers: dict[bytes, bytes]) -> bool:
        foreign = self._handed_over.get(path)
        return headers.get(b"origin") == foreign if foreign is not None else self._same_origin(headers)

    def _same_origin(self, headers: dict[bytes, bytes]) -> bool:
        origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
        if origin == b"null":
            # Under Referrer-Policy no-referrer a browser hides the origin of a form, and says in Sec-Fetch-Site where it came from.
            return site == b"same-origin"
        if origin is not None:
            return origin == self._origin
        return site in (None, b"same-origin", b"none")

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                have = list(message.get("headers", ()))
                names = {name.lower() for name, _ in have}
                message["headers"] = have + [pair for pair in self._headers if pair[0] not in names]
            await send(message)

        return sending

    async def _refuse(self, send: Send, status: int, text: str) -> None:
        body = text.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers + self._headers})
        await send({"type": "http.response.body", "body": body})
