"""The site's HTTP application: the front, the guard, the doorstep, the routes; and errors as pages."""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.site.publication.books import Books
from services.site.reading.front import App, Receive, Scope, Send
from services.site.reading.layout import Layout, language_of
from services.site.signals.pages import TooManySignals
from shared.errors import SchleuseError

ALWAYS = ("/static/", "/signals/ingest")
"""What answers whatever the door says: style sheets, and the operator's own door."""


class Doorstep:
    """ASGI. 503 until the gate has been heard, 403 while the site is shut (rule 27): for everybody, whatever they ask."""

    def __init__(self, app: App, books: Books, layout: Layout) -> None:
        self._app, self._books, self._layout = app, books, layout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(ALWAYS):
            verdict = self._books.door.answer(self._books.log).verdict
            if verdict != "open":
                words = language_of(Request(scope))
                await self._layout.notice(words, 403 if verdict == "shut" else 503)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def application(routes: Iterable[Route], layout: Layout) -> Starlette:
    """The routes, with errors as pages for people and as JSON for the operator's door."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, SchleuseError)
        waiting = {"Retry-After": str(error.wait)} if isinstance(error, TooManySignals) else {}
        if request.url.path == "/signals/ingest":
            return JSONResponse({"error": error.message, "code": error.code}, error.status, waiting)
        plain = error.status in (404, 429, 503)
        return layout.notice(language_of(request), error.status, "" if plain else error.message, waiting)

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            return layout.notice(language_of(request), 405, "405", error.headers)
        return layout.notice(language_of(request), 404)

    return Starlette(routes=list(routes), exception_handlers={SchleuseError: refused, HTTPException: unknown})
