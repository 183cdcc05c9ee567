"""Sign-in, sign-out, and a new password by a one-time link. Tokens of links stand in the path and in no log."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go, safe_place
from services.console.forms import Form, query
from services.console.people.browser import address_of, browser_of, own_form, same_twice, signed_in
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.prepare_newcomer import check_link
from services.console.people.usecases.set_password import set_password
from services.console.people.usecases.sign_in import as_typed, sign_in
from services.console.people.usecases.sign_out import sign_out
from shared.errors import SchleuseError

CARRY = "carry."
LONGEST_PLACE = 8000
"""Characters of where to go on: an address with another one inside, written out twice."""


class SignInPages:
    """What people meet before they are signed in."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        open_page = self._desk.open_page
        return [
            Route("/set-password/{token}", open_page(self.new_password)),
            Route("/set-password/{token}", open_page(self.keep_password), methods=["POST"]),
            Route("/sign-in", open_page(self.ask)),
            Route("/sign-in", open_page(self.sign_in), methods=["POST"]),
            Route("/sign-out", self._desk.page(self.sign_out), methods=["POST"]),
        ]

    async def new_password(self, request: Request) -> Response:
        async with self._console.db.reading() as tx:
            await check_link(tx, request.path_params["token"], "password")
        return await self._desk.show(request, "set_password.html", None, refused=None)

    async def keep_password(self, request: Request) -> Response:
        form, console = await own_form(self._desk, request), self._console
        try:
            same_twice(form)
            token, password = request.path_params["token"], form.text("password")
            person_id = await set_password(console.db, console.passwords, console.identity, token, password)
        except SchleuseError as error:
            if error.code == "link":
                raise
            return await self._desk.show(request, "set_password.html", None, error.status, refused=error)
        console.live.end(person=str(person_id))
        return go("/sign-in")

    async def ask(self, request: Request) -> Response:
        token = request.cookies.get(self._desk.cookie, "")
        if token and await find_session(self._console.db, token):
            return go(safe_place(query(request, "next", LONGEST_PLACE)))
        return await self._desk.show(request, "sign_in.html", None, next=query(request, "next", LONGEST_PLACE))

    async def sign_in(self, request: Request) -> Response:
        form = await own_form(self._desk, request)
        carried = Form(
            tuple((name.removeprefix(CARRY), value) for name, value in form.fields if name.startswith(CARRY))
        )
        handle, place = form.text("handle"), safe_place(form.text("next"))
        try:
            token = await self._sign_in(request, handle, form.text("password"))
        except SchleuseError as error:
            told = {"refused": error, "handle": handle, "carried": carried.fields, "carried_to": place, "next": place}
            return await self._desk.show(request, "sign_in.html", None, error.status, **told)
        if not carried.fields:
            return await signed_in(self._desk, request, go(place), handle, token)
        session = await find_session(self._console.db, token)
        assert session is not None
        answer = await self._desk.carry_on(request, session, carried, to=place, cookie=token)
        return await signed_in(self._desk, request, answer, handle, token)

    async def sign_out(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await sign_out(tx, self._console.identity, visit.session.token_hash)
        self._console.live.end(session=visit.session.token_hash)
        return self._desk.goodbye()

    async def _sign_in(self, request: Request, handle: str, password: str) -> str:
        console = self._console
        address = address_of(request, console.settings.trusted_proxies)
        known = console.known_browser(as_typed(handle), request.cookies.get(self._desk.known_cookie, ""))
        return await sign_in(
            console.db, console.passwords, handle, password, address, browser=known, shown=browser_of(request)
        )
