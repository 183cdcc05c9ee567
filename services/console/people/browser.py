"""What sign-in pages read of a browser and leave in it."""

import ipaddress

from starlette.requests import Request
from starlette.responses import Response

from services.console.desk import Desk
from services.console.forms import Form, read_form
from services.console.people.domain import KNOWN_BROWSER, browser_name, hash_token
from services.console.people.usecases.sign_in import as_typed
from services.console.people.usecases.sign_out import sign_out
from shared.errors import Forbidden
from shared.ids import new_token


async def own_form(desk: Desk, request: Request) -> Form:
    """What somebody who is not signed in posts. Forbidden when the form was not shown to this browser."""
    form = await read_form(request)
    if not desk.is_ours(form, request.cookies.get(desk.pre_cookie, "")):
        raise Forbidden(
            "This form was not shown to this browser, or it is a week old. Open the page again.", code="token"
        )
    return form


async def signed_in(desk: Desk, request: Request, response: Response, handle: str, token: str) -> Response:
    """The answer that brings a new session's cookie, and the mark by which the browser is known next time.

    A session that this browser had before is over: nobody could see it any more, or sign it out here.
    """
    before = request.cookies.get(desk.cookie, "")
    if before:
        async with desk.console.db.transaction() as tx:
            await sign_out(tx, desk.console.identity, hash_token(before))
        desk.console.live.end(session=hash_token(before))
    desk.set_cookie(response, desk.cookie, token)
    mark = request.cookies.get(desk.known_cookie, "")
    if not desk.console.known_browser(as_typed(handle), mark):
        mark = desk.console.browser_mark(as_typed(handle), new_token())
    desk.set_cookie(response, desk.known_cookie, mark, KNOWN_BROWSER)
    return response


def browser_of(request: Request) -> str:
    return browser_name(request.headers.get("user-agent", "")[:500])


def address_of(request: Request, trusted: tuple[str, ...]) -> str:
    """Who sent this; X-Forwarded-For is believed from trusted proxies only. Of IPv6 the network: one has 2^64 addresses."""
    client = request.client.host if request.client else "unknown"
    if client in trusted:
        hops = [hop.strip() for hop in request.headers.get("x-forwarded-for", "").split(",") if hop.strip()]
        client = next((hop for hop in reversed(hops) if hop not in trusted), client)
    return _network(client[:64])


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def same_twice(form: Form) -> None:
    if form.text("password") != form.text("again"):
        raise Forbidden("The two passwords differ.", code="password")
