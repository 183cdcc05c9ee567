"""The API as an application: its document, its errors, and how much it reads of a request."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi import HTTPException as TooLong
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.agent.chat.api import Api, add_routes
from services.agent.chat.api_bodies import Problem
from services.agent.conversations.domain import MAX_MESSAGE
from shared.errors import NotFound, Refused, SchleuseError, TooLarge
from shared.telemetry import current_traceparent, trace_id_of

MOST_BODY = 6 * MAX_MESSAGE + 16 * 1024
"""Bytes of a request: a character of a message takes up to six in JSON."""

STREAMED = {("PUT", "/api/v1/files/content")}
"""What is read piece by piece, within limits of its own."""


def make_api(api: Api, also: Callable[[FastAPI, Api], None] = lambda _, __: None) -> ASGIApp:
    """To mount at /api; `also` adds what other parts answer. No documentation pages: they would load scripts from elsewhere."""
    app = FastAPI(
        title="Schleuse agent",
        version="1",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={code: {"model": Problem} for code in (401, 403, 404, 409, 413, 422, 429, 503)},
    )
    add_routes(app, api)
    also(app, api)
    app.exception_handler(SchleuseError)(problem)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_nowhere)
    return _Within(app)


class _Within:
    """Reads no more of a body than a message can need, and lets nobody keep an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        read, most = 0, None if (scope.get("method"), scope["path"]) in STREAMED else MOST_BODY

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if most is not None and read > most:
                raise TooLong(413)  # of its own kind: what else comes out of reading a body is taken for bad JSON
            return message

        async def private(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {name.lower() for name, _ in message.get("headers", ())}
                if b"cache-control" not in named:
                    message["headers"] = [*message.get("headers", ()), (b"cache-control", b"private, no-store")]
            await send(message)

        await self._app(scope, bounded, private)


async def problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SchleuseError)
    trace = trace_id_of(current_traceparent()) or ""
    return JSONResponse(Problem(code=error.code, message=error.message, trace_id=trace).model_dump(), error.status)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Where and why the request does not fit, without repeating what was sent."""
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(str(part)[:60] for part in each['loc'])}: {each['msg']}" for each in error.errors()[:5]]
    return await problem(request, Refused("The request does not fit: " + "; ".join(faults), code="invalid"))


async def _nowhere(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return await problem(request, Refused("The request's body is no JSON that can be read.", code="invalid"))
    if error.status_code == 413:
        return await problem(request, TooLarge(f"A message has at most {MAX_MESSAGE // 1024} KiB. Nothing was sent."))
    if error.status_code == 405:
        found: Any = await problem(request, Refused("This address does not take that method.", code="method"))
        found.status_code = 405
        found.headers.update(error.headers or {})
        return found  # type: ignore[no-any-return]
    return await problem(request, NotFound("There is no such address; /api/v1/openapi.json lists them."))
