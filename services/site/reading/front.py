"""The first thing a request meets: finished pages straight from memory, everything else to the application behind it."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from services.site.publication.books import Books
from services.site.reading.cache import Page, PageCache

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Front:
    """ASGI. Serves those who bring no session's cookie, from the public's edition, in mode `open` only. `is_open` is refreshed every second and with every event of the gate, so that a cached page costs no question."""

    def __init__(self, app: App, cache: PageCache, books: Books, hosts: Iterable[str], cookie: str) -> None:
        self._app, self._books = app, books
        self._pages = cache.pages
        self._cookie = cookie.encode() + b"="
        self._hosts = frozenset(host.encode() for host in hosts)
        self.is_open = False

    def refresh(self) -> None:
        self.is_open = self._books.door.answer(self._books.log).verdict == "open"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.is_open and scope["type"] == "http" and not scope["query_string"]:
            page = self._pages.get(scope["path"])
            if page is not None and scope["method"] in ("GET", "HEAD") and await self._answer(page, scope, send):
                return
        await self._app(scope, receive, send)

    async def _answer(self, page: Page, scope: Scope, send: Send) -> bool:
        """Send a finished page, or 304. False for a host that is not ours, and for whoever may be signed in."""
        known: bytes | None = None
        ours = named = False
        for name, value in scope["headers"]:
            if name == b"host":
                ours, named = not named and value in self._hosts, True
            elif name == b"if-none-match":
                known = value
            elif name == b"cookie" and self._cookie in value:
                return False
        if not ours:
            return False
        if known is not None and is_known(page, known):
            await send({"type": "http.response.start", "status": 304, "headers": page.not_modified})
            await send({"type": "http.response.body"})
            return True
        await send({"type": "http.response.start", "status": 200, "headers": page.headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else page.body})
        return True


def is_known(page: Page, known: bytes) -> bool:
    """Whether the asker has this very page, by its If-None-Match. (RFC 9110, section 13.1.3: what has no date ignores If-Modified-Since.)"""
    tags = {tag.strip().removeprefix(b"W/") for tag in known.split(b",")}
    return page.etag in tags or b"*" in tags
