"""The workspace's front door until the chat is there: who is here, the way in and out, and a stream that ends with it."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from shared.errors import Refused, SchleuseError, Unauthorized
from shared.identity import Found, Sessions, is_fresh
from shared.identity.doors import PRIVATE, SIGNED_IN, SignInDoor, Surface, is_page
from shared.identity.sessions import hash_token
from shared.identity.streams import Streams
from shared.web.guard import App, Guard
from shared.web.static_files import LOOK, StaticFiles

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
PING = 15.0
"""Seconds of silence after which a stream shows that it is alive."""
_HERE = Path(__file__).parent


class Workspace:
    """Whoever has not signed in is a guest (rule 22)."""

    def __init__(self, surface: Surface, sessions: Sessions, streams: Streams) -> None:
        self._streams, self._console = streams, surface.console_url
        self._static = StaticFiles("/static", (LOOK, _HERE / "static"))
        loader = FileSystemLoader(_HERE / "templates")
        self._templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
        self._door = SignInDoor(surface, sessions, self._refused, self._is_ours)

    def app(self) -> Starlette:
        routes = [
            Route("/", self.front),
            Route("/live", self.live),
            *self._door.routes(),
            Route("/static/{name}", self._static.endpoint),
        ]
        return Starlette(routes=routes, exception_handlers={SchleuseError: self._failed, HTTPException: self._missing})

    async def front(self, request: Request) -> Response:
        found = await self._door.found(request)
        if found is not None and not is_fresh(found) and is_page(request):
            return self._door.renewal(request)
        page = self._page(
            request, 200, "The workspace opens with the next release", "Chat, files, tasks and memory will be here.", found
        )  # fmt: skip
        if found is None and self._door.surface.cookie in request.cookies:
            self._door.forget(page)
        return page

    async def live(self, request: Request) -> Response:
        """Server-sent events of a signed-in person; over within a second of the session, or of the role that it had (S8)."""
        found = await self._door.found(request)
        if found is None or not is_fresh(found):
            raise Unauthorized("Nobody is signed in here.")
        headers = {**PRIVATE, "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(found), media_type="text/event-stream", headers=headers)

    async def _events(self, found: Found) -> AsyncIterator[bytes]:
        async with self._streams.open(found) as stream:
            yield b"retry: 1000\n\n"
            while not stream.over.is_set():
                try:
                    await asyncio.wait_for(stream.over.wait(), PING)
                except TimeoutError:
                    yield b": here\n\n"
            yield b"event: end\ndata: {}\n\n"

    def _is_ours(self, request: Request, form: Mapping[str, str]) -> bool:
        given, expected = form.get("token", "").encode(), self._form_token(request).encode()
        return hmac.compare_digest(given, expected)

    def _form_token(self, request: Request) -> str:
        return hash_token("form " + request.cookies.get(self._door.surface.cookie, ""))

    def _refused(self, request: Request, error: Refused) -> Response:
        return self._page(request, error.status, "The sign-in did not work", error.message, again=True)

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, SchleuseError)
        return self._page(request, error.status, f"{error.status}: this did not work", error.message)

    async def _missing(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            page = self._page(
                request, 405, "405: this address does not take that kind of request", "Nothing was changed."
            )
            page.headers.update(error.headers or {})
            return page
        return self._page(request, 404, "404: there is no such page", "Nothing was changed.")

    def _page(self, request: Request, status: int, heading: str, text: str, me: Found | None = None, **more: Any) -> Response:  # fmt: skip
        known = {"me": me, "guest": status == 200 and (me is None or me.role == "guest"), "again": False}
        about = {"url": self._static.url, "console": self._console, "token": me and self._form_token(request)}
        html = self._templates.get_template("shell.html").render(heading=heading, text=text, **(known | about | more))
        return HTMLResponse(html, status, headers=PRIVATE)


def workspace_app(surface: Surface, sessions: Sessions, streams: Streams) -> App:
    """The workspace behind its guard."""
    host = surface.url.split("//", 1)[1]
    app = Workspace(surface, sessions, streams).app()
    handed_over = {SIGNED_IN: surface.console_url}
    return Guard(app, hosts={host}, origin=surface.url, csp=CSP, handed_over=handed_over)
