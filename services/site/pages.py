"""A part of the site's HTTP application: routes, with errors as pages."""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.site.reading.layout import Layout, language_of
from services.site.signals.pages import INGEST
from services.site.signals.reception import TooManySignals
from shared.errors import SchleuseError


def application(routes: Iterable[Route], layout: Layout) -> Starlette:
    """The routes, with errors as pages for people and as JSON for the operator's door."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, SchleuseError)
        waiting = {"Retry-After": str(error.wait)} if isinstance(error, TooManySignals) else {}
        if request.url.path == INGEST:
            return JSONResponse({"error": error.message, "code": error.code}, error.status, waiting)
        plain = error.status in (404, 429, 503)
        return layout.notice(language_of(request), error.status, "" if plain else error.message, waiting)

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            return layout.notice(language_of(request), 405, "405", error.headers)
        return layout.notice(language_of(request), 404)

    return Starlette(routes=list(routes), exception_handlers={SchleuseError: refused, HTTPException: unknown})
