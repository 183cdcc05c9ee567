"""The desk behind every page of the workspace: who asks, is the form ours, what is shown when something is wrong."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from services.agent.chat.api_app import problem
from services.agent.chat.callers import NOBODY, Caller, Callers
from services.agent.chat.parts import Chat
from services.agent.chat.rendering import Templates
from services.agent.conversations.domain import MAX_MESSAGE
from shared.errors import NotFound, Refused, SchleuseError, TooLarge, Unauthorized
from shared.identity.doors import PRIVATE, SignInDoor, is_page
from shared.telemetry import current_traceparent, trace_id_of
from shared.web.forms import read_form

MOST_FORM = 3 * MAX_MESSAGE + 8 * 1024
"""Bytes of a form: a character of a message takes up to three in it."""


@dataclass(frozen=True)
class Asked:
    """One request. `form` is empty for a GET."""

    request: Request
    caller: Caller
    form: Mapping[str, str]


Handler = Callable[[Asked], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


class Front:
    """Turns handlers into endpoints."""

    def __init__(self, chat: Chat, callers: Callers, templates: Templates) -> None:
        self.chat, self.callers, self._templates = chat, callers, templates
        self.door = SignInDoor(chat.surface, chat.sessions, self._not_let_in, self._is_ours)

    def page(self, handler: Handler) -> Endpoint:
        """For anybody. What is posted must come from a page of the caller's own; a page whose session is due is renewed at the console."""

        async def endpoint(request: Request) -> Response:
            try:
                caller = await self.callers.find(request)
            except Unauthorized as error:
                if error.code == "renew" and is_page(request):
                    return self.door.renewal(request)
                raise
            form = await self._form(request)
            asked = Asked(request, caller, form)
            answer = await handler(asked)
            if caller.is_nobody:
                self._take_back(request, answer)
            return answer

        return endpoint

    def check(self, asked: Asked) -> None:
        """Forbidden (code `token`) for a form that is not ours."""
        self.callers.check(asked.request, asked.caller, asked.form.get("token", ""))

    def show(self, caller: Caller, template: str, status: int = 200, **context: Any) -> Response:
        html = self._templates.render(template, caller=caller, **({"here": ""} | context))
        return self.callers.remember(HTMLResponse(html, status, headers=PRIVATE), caller)

    def tell(self, caller: Caller, status: int, heading: str, text: str, **more: Any) -> Response:
        known = {"again": False, "form": "", "button": "", "trace": ""}
        return self.show(caller, "told.html", status, heading=heading, text=text, **(known | more))

    async def failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, SchleuseError)
        if request.url.path.startswith("/api/"):  # other parts' addresses beside the API
            return await problem(request, error)
        trace = trace_id_of(current_traceparent()) or ""
        heading = "There is no such page" if isinstance(error, NotFound) else "This did not work"
        again = isinstance(error, Unauthorized)
        caller = await self._known(request)
        return self.tell(caller, error.status, f"{error.status}: {heading}", error.message, trace=trace, again=again)

    async def missing(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        caller = await self._known(request)
        if error.status_code == 405:
            page = self.tell(
                caller, 405, "405: this address does not take that kind of request", "Nothing was changed."
            )
            page.headers.update(error.headers or {})
            return page
        return self.tell(caller, 404, "404: there is no such page", "Nothing was changed.")

    async def _known(self, request: Request) -> Caller:
        try:
            return await self.callers.find(request)
        except SchleuseError:
            return Caller(NOBODY)

    async def _form(self, request: Request) -> Mapping[str, str]:
        if request.method in ("GET", "HEAD"):
            return {}
        try:
            return await read_form(request, MOST_FORM)
        except TooLarge:
            raise TooLarge(f"A message has at most {MAX_MESSAGE // 1024} KiB. Nothing was sent.") from None

    def _take_back(self, request: Request, answer: Response) -> None:
        """Cookies that open nothing any more."""
        if self.chat.surface.cookie in request.cookies:
            self.door.forget(answer)
        if self.callers.guest_cookie in request.cookies and "set-cookie" not in answer.headers:
            self.callers.forget(answer)

    def _is_ours(self, request: Request, form: Mapping[str, str]) -> bool:
        cookie = request.cookies.get(self.chat.surface.cookie, "")
        try:
            self.callers.check(request, Caller(NOBODY, cookie=cookie), form.get("token", ""))
        except Refused:
            return False
        return True

    def _not_let_in(self, request: Request, error: Refused) -> Response:
        return self.tell(Caller(NOBODY), error.status, "The sign-in did not work", error.message, again=True)
