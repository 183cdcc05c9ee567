"""Who sends a request: a person, a program with a key, or a guest; and whether a form was shown by this workspace (S8)."""

import hmac
from dataclasses import dataclass, replace
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from schemas.outward import Owner
from services.agent.guests.domain import Visit
from services.agent.guests.visits import Visits, guest
from services.agent.owners.domain import Me
from services.agent.owners.door import OwnerDoor
from shared.errors import Forbidden
from shared.identity.doors import Surface
from shared.identity.sessions import hash_token

NOBODY = Me(Owner(kind="guest", id="nobody"), "Guest", "guest")
"""A guest who has said nothing yet, and of whom nothing is known."""
HEADER = "x-form-token"


@dataclass(frozen=True)
class Caller:
    """`cookie` is what forms are bound to; empty for a guest who has said nothing. `new_cookie`: to be set by the answer."""

    me: Me
    visit: Visit | None = None
    cookie: str = ""
    by_key: bool = False
    new_cookie: str = ""

    @property
    def token(self) -> str:
        """What a form or a script of this workspace sends with everything that changes something."""
        return form_token(self.cookie)

    @property
    def is_nobody(self) -> bool:
        return self.me.is_guest and self.visit is None


class Callers:
    """Finds who is asking; begins a guest's visit when there is something to keep."""

    def __init__(self, door: OwnerDoor, visits: Visits, surface: Surface) -> None:
        self._door, self._visits, self._surface = door, visits, surface
        self.guest_cookie = guest_cookie(surface)

    async def find(self, request: Request) -> Caller:
        """Unauthorized for a key that is not good, and for a session that the console must vouch for anew."""
        me = await self._door.me(request)
        if me is not None:
            by_key = "authorization" in request.headers
            return Caller(me, cookie="" if by_key else request.cookies.get(self._surface.cookie, ""), by_key=by_key)
        cookie = request.cookies.get(self.guest_cookie, "")
        visit = self._visits.find(cookie)
        return Caller(NOBODY) if visit is None else Caller(guest(visit), visit, cookie)

    def settle(self, caller: Caller) -> Caller:
        """The same, or a guest whose visit begins now."""
        if not caller.is_nobody:
            return caller
        cookie, visit = self._visits.begin()
        return replace(caller, me=guest(visit), visit=visit, cookie=cookie, new_cookie=cookie)

    def check(self, request: Request, caller: Caller, token: str) -> None:
        """Forbidden unless it is ours. A program that has neither cookie nor page cannot be misused by another site, and needs none."""
        is_browser = "origin" in request.headers or "sec-fetch-site" in request.headers
        if caller.by_key or (not caller.cookie and not is_browser):
            return
        if not hmac.compare_digest(token.encode("utf-8", "replace"), caller.token.encode()):
            raise Forbidden("This page is older than your visit or your sign-in. Nothing was sent; send it again.", code="token")  # fmt: skip

    def remember(self, response: Response, caller: Caller) -> Response:
        """Give a new guest their cookie, for as long as the browser is open."""
        if caller.new_cookie:
            response.set_cookie(
                self.guest_cookie, caller.new_cookie, path="/", secure=self._surface.is_https, httponly=True, samesite="lax"
            )  # fmt: skip
        return response

    def forget(self, response: Response) -> None:
        response.delete_cookie(
            self.guest_cookie, path="/", secure=self._surface.is_https, httponly=True, samesite="lax"
        )


def guest_cookie(surface: Surface) -> str:
    return f"__Host-{surface.audience}-guest" if surface.is_https else f"{surface.audience}_guest"


def form_token(cookie: str) -> str:
    return hash_token("form " + cookie)


def turn_and_number(text: str) -> tuple[UUID, int] | None:
    """`turn.number` as streams name their events; None for anything else."""
    turn, _, number = text.partition(".")
    try:
        return (UUID(turn), int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else None
    except ValueError:
        return None
