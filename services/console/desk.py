"""The desk behind every page: who is signed in, is the form ours, what is shown when something is wrong.

A form that meets an expired session is not lost: the sign-in page carries its fields, and they come back afterwards.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from schemas.text import text_fault
from services.console.actions.store import count_waiting as count_actions
from services.console.apps.packages.store import count_waiting as count_apps
from services.console.audit.views import count_unseen_rejections
from services.console.cards.store import count_waiting as count_cards
from services.console.forms import SECRET, Form, read_form
from services.console.notices.views import count_unread
from services.console.parts import Console
from services.console.people.domain import ABSOLUTE, Caller, Need, Session
from services.console.people.usecases.find_session import find_session
from services.console.queue.views import count_waiting
from services.console.rendering import Templates
from services.console.words import Language, Words, language_of
from shared.clock import now
from shared.errors import NotFound, SchleuseError, Transient
from shared.telemetry import current_traceparent, span, trace_id_of

PRIVATE = {"Cache-Control": "private, no-store"}
NOT_CARRIED = frozenset({"token", "old", "password", "again"})
"""Fields that no page repeats."""


@dataclass(frozen=True)
class Visit:
    """One request of a signed-in person."""

    desk: "Desk"
    request: Request
    session: Session
    form: Form

    @property
    def caller(self) -> Caller:
        return self.session.caller

    @property
    def words(self) -> Words:
        """What this person reads."""
        return Words(language_for(self.request, self.session))

    async def show(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        return await self.desk.show(self.request, template, self.session, status, **context)


Handler = Callable[[Visit], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]
Reader = Callable[[Request], Awaitable[Form]]


class Desk:
    """Turns handlers into endpoints. Roles are enforced again in the use cases."""

    def __init__(self, console: Console, templates: Templates) -> None:
        self.console = console
        self._templates = templates
        self.cookie = "__Host-console" if console.is_https else "console"
        self.pre_cookie = "__Host-console-pre" if console.is_https else "console_pre"
        self.known_cookie = "__Host-console-known" if console.is_https else "console_known"

    def page(self, handler: Handler, need: Need = "read", read: Reader = read_form) -> Endpoint:
        """An endpoint for signed-in people whose role allows `need`. `read`: how a posted form is read, where it is larger than forms are."""

        async def endpoint(request: Request) -> Response:
            with span(f"console {request.method} {handler.__name__}"):
                return await self.guarded(request, lambda: self._admit(request, handler, need, read))

        return endpoint

    def open_page(self, handler: Callable[[Request], Awaitable[Response]]) -> Endpoint:
        """An endpoint for anybody."""

        async def endpoint(request: Request) -> Response:
            return await self.guarded(request, lambda: handler(request))

        return endpoint

    async def guarded(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Errors become a page: what happened, what was kept, what to do."""
        try:
            return await act()
        except SchleuseError as error:
            return await self._tell(request, error)

    async def _tell(self, request: Request, error: SchleuseError) -> Response:
        """The error's page; what was posted while the database was away is offered to be sent again."""
        told: dict[str, Any] = {"error": error, "trace": trace_id_of(current_traceparent()), "carried": ()}
        try:
            return await self.show(request, "error.html", await self._session(request), error.status, **told)
        except Transient:
            form: Form = getattr(request.state, "form", Form())
            carried = form.fields if request.method == "POST" and not _has_value(form) else ()
            told |= {"carried": carried, "path": request.url.path}
            page = self._templates.render("error.html", told, language_for(request, None))
            return HTMLResponse(page, error.status, headers=PRIVATE)

    async def _admit(self, request: Request, handler: Handler, need: Need, read: Reader) -> Response:
        posting = request.method not in {"GET", "HEAD"}
        form = request.state.form = await read(request) if posting else Form()
        session = await self._session(request)
        if session is None:
            return await self._ask_to_sign_in(request, form)
        if posting and not self.is_ours(form, request.cookies.get(self.cookie, "")):
            return await self.carry_on(request, session, form, status=403)
        session.caller.require(need)
        if any(isinstance(each, str) and text_fault(each) for each in request.path_params.values()):
            raise NotFound("There is no such page.")
        return await handler(Visit(self, request, session, form))

    async def _session(self, request: Request) -> Session | None:
        token = request.cookies.get(self.cookie, "")
        return await find_session(self.console.db, token) if token else None

    def is_ours(self, form: Form, cookie: str) -> bool:
        """Whether the form carries the token that belongs to this browser's cookie."""
        given, expected = form.text("token").encode("utf-8", "replace"), self.console.form_token(cookie).encode()
        return bool(cookie) and hmac.compare_digest(given, expected)

    async def _ask_to_sign_in(self, request: Request, form: Form) -> Response:
        place = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        if not form.fields:
            return RedirectResponse(f"/sign-in?next={quote(place, safe='/')}", 303, headers=PRIVATE)
        carried = _carried(form)
        return await self.show(request, "sign_in.html", None, 401, carried=carried, carried_to=place)

    async def carry_on(
        self, request: Request, session: Session, form: Form, *, to: str = "", cookie: str = "", status: int = 200
    ) -> Response:
        """Show what was typed before the session ended, to be sent once more."""
        carried = _carried(form)
        place = to or request.url.path
        return await self.show(
            request, "carry_on.html", session, status, carried=carried, carried_to=place, cookie=cookie
        )

    async def show(
        self, request: Request, template: str, session: Session | None, status: int = 200, **context: Any
    ) -> HTMLResponse:
        """Render a page. `cookie`: the session token that this answer is about to set."""
        cookie = str(context.pop("cookie", "")) or request.cookies.get(self.cookie, "")
        fresh = ""
        if session is None:
            cookie = request.cookies.get(self.pre_cookie, "") or (fresh := self._templates.new_pre_token())
        about: Mapping[str, Any] = await self._around(session) if session else {}
        page = self._templates.render(
            template,
            {**about, **context, "me": session, "token": self.console.form_token(cookie), "path": request.url.path},
            language_for(request, session),
        )
        response = HTMLResponse(page, status, headers=PRIVATE)
        if fresh:
            self.set_cookie(response, self.pre_cookie, fresh)
        return response

    async def _around(self, session: Session) -> dict[str, Any]:
        async with self.console.db.reading() as tx:
            waiting, rejected = await count_waiting(tx), await count_unseen_rejections(tx)
            unread = await count_unread(tx, session.caller.id, now())
            all_cards = session.caller.may("connectors")
            cards = await count_cards(tx, now()) + await count_apps(tx, now()) if all_cards else 0
            actions = await count_actions(tx, now(), None if all_cards else session.caller.id)
        return {
            "waiting": waiting,
            "rejected": rejected,
            "unread": unread,
            "cards_waiting": cards + actions,
            "may": session.caller.may,
        }

    def goodbye(self) -> RedirectResponse:
        """After signing out."""
        response = go("/sign-in")
        response.delete_cookie(self.cookie, path="/", secure=self.console.is_https, httponly=True, samesite="lax")
        return response

    def set_cookie(self, response: Response, name: str, value: str, life: timedelta = ABSOLUTE) -> None:
        response.set_cookie(
            name,
            value,
            max_age=int(life.total_seconds()),
            path="/",
            secure=self.console.is_https,
            httponly=True,
            samesite="lax",
        )


def _carried(form: Form) -> list[tuple[str, str]]:
    return [(name, value) for name, value in form.fields if name not in NOT_CARRIED and not name.startswith(SECRET)]


def _has_value(form: Form) -> bool:
    return any(name == "password" or name.startswith(SECRET) for name, _ in form.fields)


def language_for(request: Request, session: Session | None) -> Language:
    """What the person has chosen, else what the browser asks for."""
    return language_of(session.language if session else "", request.headers.get("accept-language", ""))


def go(place: str) -> RedirectResponse:
    """After a form: look at the result with a GET."""
    return RedirectResponse(place, 303, headers=PRIVATE)


def safe_place(place: str) -> str:
    """A path of this console; anything else becomes the queue."""
    inside = place.startswith("/") and not place.startswith("//") and "\\" not in place and place.isprintable()
    return place if inside else "/queue"
