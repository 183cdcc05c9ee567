"""The way in and out of a surface: to the console and back with a token, and the session's cookie (S8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shared.clock import now
from shared.errors import Forbidden, Refused
from shared.identity.sessions import Sessions, is_fresh
from shared.identity.store import Found
from shared.identity.token import nonce_of
from shared.ids import new_token
from shared.web.forms import read_form

SIGN_IN, SIGNED_IN, SIGN_OUT = "/sign-in", "/signed-in", "/sign-out"
PRE_LIFE = timedelta(minutes=10)
MAX_PLACE = 2000
MAX_FORM = 16 * 1024
PRIVATE = {"Cache-Control": "private, no-store"}


@dataclass(frozen=True)
class Surface:
    """`audience` is the name in tokens; `url` and `console_url` are what people type."""

    audience: str
    url: str
    console_url: str

    @property
    def is_https(self) -> bool:
        return self.url.startswith("https:")

    @property
    def cookie(self) -> str:
        return f"__Host-{self.audience}" if self.is_https else self.audience

    @property
    def pre_cookie(self) -> str:
        return f"__Host-{self.audience}-pre" if self.is_https else f"{self.audience}_pre"


class SignInDoor:
    """`refused` shows why somebody was not let in; `is_ours` says whether a form was shown by this surface."""

    def __init__(
        self,
        surface: Surface,
        sessions: Sessions,
        refused: Callable[[Request, Refused], Response],
        is_ours: Callable[[Request, Mapping[str, str]], bool],
    ) -> None:
        self.surface, self.sessions = surface, sessions
        self._refused, self._is_ours = refused, is_ours

    def routes(self) -> list[Route]:
        return [
            Route(SIGN_IN, self.leave),
            Route(SIGNED_IN, self.take_token, methods=["POST"]),
            Route(SIGNED_IN, self.enter, methods=["GET"]),
            Route(SIGN_OUT, self.sign_out, methods=["POST"]),
        ]

    async def found(self, request: Request) -> Found | None:
        """Whose session this is, fresh or due for renewal."""
        return await self.sessions.find(request.cookies.get(self.surface.cookie, ""))

    async def leave(self, request: Request) -> Response:
        """To the console, which knows people, with a nonce that binds its answer to this browser."""
        place = local_place(request.query_params.get("next", ""))
        found = await self.found(request)
        if found is not None and is_fresh(found):
            return go(place)
        pre = request.cookies.get(self.surface.pre_cookie, "")
        pre = pre if len(pre) >= 43 else new_token()
        asked = urlencode({"audience": self.surface.audience, "nonce": nonce_of(pre), "next": place})
        response = go(f"{self.surface.console_url}/identity?{asked}")
        self._set(response, self.surface.pre_cookie, pre, PRE_LIFE)
        return response

    async def take_token(self, request: Request) -> Response:
        """The console's form. A cross-site POST brings no Lax cookie, so the browser comes once more, by GET."""
        try:
            form = await read_form(request, MAX_FORM)
            code = await self.sessions.offer(form.get("token", ""), local_place(form.get("next", "")))
        except Refused as error:
            return self._refused(request, error)
        return go(f"{SIGNED_IN}?{urlencode({'code': code})}")

    async def enter(self, request: Request) -> Response:
        code = request.query_params.get("code", "")
        cookies = request.cookies
        try:
            cookie, found, place = await self.sessions.begin(
                code, cookies.get(self.surface.pre_cookie, ""), cookies.get(self.surface.cookie, "")
            )
        except Refused as error:
            return self._refused(request, error)
        response = go(place)
        self.let_in(response, cookie, found)
        return response

    async def sign_out(self, request: Request) -> Response:
        form = await read_form(request, MAX_FORM)
        if not self._is_ours(request, form):
            raise Forbidden("this form is too old or not ours; open the page again", code="token")
        await self.sessions.end(request.cookies.get(self.surface.cookie, ""))
        response = go("/")
        self.forget(response)
        return response

    def let_in(self, response: Response, cookie: str, found: Found) -> None:
        self._set(response, self.surface.cookie, cookie, found.ends_at - now())

    def forget(self, response: Response) -> None:
        """Take the session's cookie back."""
        secure = self.surface.is_https
        response.delete_cookie(self.surface.cookie, path="/", secure=secure, httponly=True, samesite="lax")

    def renewal(self, request: Request) -> Response:
        """Back to this very page, by way of the console, which is asked again whether it vouches."""
        place = place_of(request).removesuffix("?sign-in")
        return go(f"{SIGN_IN}?{urlencode({'next': place})}")

    def _set(self, response: Response, name: str, value: str, life: timedelta) -> None:
        response.set_cookie(
            name,
            value,
            max_age=max(1, int(life.total_seconds())),
            path="/",
            secure=self.surface.is_https,
            httponly=True,
            samesite="lax",
        )


def go(place: str) -> Response:
    return RedirectResponse(place, 303, PRIVATE)


def place_of(request: Request) -> str:
    """Path and query of a request, to come back to."""
    path = quote(request.url.path, safe="/:@!$&'()*+,;=~-._%")
    return path + (f"?{request.url.query}" if request.url.query else "")


def local_place(place: str) -> str:
    """A path of this surface; anything else, and what would sign in again, becomes the start page."""
    inside = place.startswith("/") and not place.startswith("//") and "\\" not in place and place.isprintable()
    again = place.startswith((SIGN_IN, SIGNED_IN, SIGN_OUT))
    return place if inside and not again and len(place) <= MAX_PLACE else "/"


def is_page(request: Request) -> bool:
    """Whether a person looks at it: a browser says so, and what says nothing may be one."""
    return request.method == "GET" and request.headers.get("sec-fetch-dest", "document") == "document"
