"""Welcome, sign-in, sign-out, setting a password."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from services.console.desk import PRIVATE, Desk, Visit, go, safe_place
from services.console.forms import Form, query, read_form
from services.console.people.domain import KNOWN_BROWSER, OPERATOR
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.set_password import set_password
from services.console.people.usecases.sign_in import as_typed, sign_in
from services.console.people.usecases.sign_out import sign_out
from services.console.people.usecases.welcome_owner import check_link, welcome_owner
from services.console.queue.usecases.submit_item import read_draft, submit_item
from services.console.welcome import EXAMPLE
from shared.errors import Forbidden, SchleuseError
from shared.ids import new_token

CARRY = "carry."


class SignInPages:
    """What people meet before they are signed in. Tokens of one-time links stand in the path and in no log."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        open_page = self._desk.open_page
        return [
            Route("/welcome/{token}", open_page(self.welcome)),
            Route("/welcome/{token}", open_page(self.become_owner), methods=["POST"]),
            Route("/set-password/{token}", open_page(self.new_password)),
            Route("/set-password/{token}", open_page(self.keep_password), methods=["POST"]),
            Route("/sign-in", open_page(self.ask)),
            Route("/sign-in", open_page(self.sign_in), methods=["POST"]),
            Route("/sign-out", self._desk.page(self.sign_out), methods=["POST"]),
        ]

    async def welcome(self, request: Request) -> Response:
        async with self._console.db.reading() as tx:
            await check_link(tx, request.path_params["token"], "owner")
        return await self._desk.show(request, "welcome.html", None, refused=None, given={"name": "", "handle": ""})

    async def become_owner(self, request: Request) -> Response:
        form = await self._form(request)
        given = {name: form.text(name) for name in ("name", "handle")}
        try:
            _same_twice(form)
            async with self._console.db.transaction() as tx:
                token, password = request.path_params["token"], form.text("password")
                owner = await welcome_owner(
                    tx, self._console.passwords, token, given["name"], given["handle"], password
                )
                await submit_item(tx, OPERATOR, read_draft("page", "en", "welcome", EXAMPLE))
            session = await self._sign_in(request, given["handle"], password)
        except SchleuseError as error:
            if error.code == "link":
                raise
            return await self._desk.show(request, "welcome.html", None, error.status, refused=error, given=given)
        assert owner.role == "owner"
        return self._signed_in(request, go("/queue"), given["handle"], session)

    async def new_password(self, request: Request) -> Response:
        async with self._console.db.reading() as tx:
            await check_link(tx, request.path_params["token"], "password")
        return await self._desk.show(request, "set_password.html", None, refused=None)

    async def keep_password(self, request: Request) -> Response:
        form = await self._form(request)
        try:
            _same_twice(form)
            async with self._console.db.transaction() as tx:
                await set_password(tx, self._console.passwords, request.path_params["token"], form.text("password"))
        except SchleuseError as error:
            if error.code == "link":
                raise
            return await self._desk.show(request, "set_password.html", None, error.status, refused=error)
        return go("/sign-in")

    async def ask(self, request: Request) -> Response:
        token = request.cookies.get(self._desk.cookie, "")
        if token and await find_session(self._console.db, token):
            return go(safe_place(query(request, "next", 2000)))
        return await self._desk.show(request, "sign_in.html", None, next=query(request, "next", 2000))

    async def sign_in(self, request: Request) -> Response:
        form = await self._form(request)
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
            return self._signed_in(request, go(place), handle, token)
        session = await find_session(self._console.db, token)
        assert session is not None
        answer = await self._desk.carry_on(request, session, carried, to=place, cookie=token)
        return self._signed_in(request, answer, handle, token)

    async def sign_out(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await sign_out(tx, visit.session.token_hash)
        self._console.live.end(session=visit.session.token_hash)
        response = RedirectResponse("/sign-in", 303, headers=PRIVATE)
        response.delete_cookie(
            self._desk.cookie, path="/", secure=self._console.is_https, httponly=True, samesite="lax"
        )
        return response

    async def _sign_in(self, request: Request, handle: str, password: str) -> str:
        address = address_of(request, self._console.settings.trusted_proxies)
        browser = self._console.known_browser(as_typed(handle), request.cookies.get(self._desk.known_cookie, ""))
        return await sign_in(self._console.db, self._console.passwords, handle, password, address, browser)

    def _signed_in(self, request: Request, response: Response, handle: str, token: str) -> Response:
        self._desk.set_cookie(response, self._desk.cookie, token)
        mark = request.cookies.get(self._desk.known_cookie, "")
        if not self._console.known_browser(as_typed(handle), mark):
            mark = self._console.browser_mark(as_typed(handle), new_token())
        self._desk.set_cookie(response, self._desk.known_cookie, mark, KNOWN_BROWSER)
        return response

    async def _form(self, request: Request) -> Form:
        """Forbidden when the form was not shown to this browser."""
        form = await read_form(request)
        if not self._desk.is_ours(form, request.cookies.get(self._desk.pre_cookie, "")):
            raise Forbidden(
                "This form was not shown to this browser, or it is a week old. Open the page again.", code="token"
            )
        return form


def address_of(request: Request, trusted: tuple[str, ...]) -> str:
    """Who sent this; X-Forwarded-For is believed from trusted proxies only."""
    client = request.client.host if request.client else "unknown"
    if client not in trusted:
        return client
    hops = [hop.strip() for hop in request.headers.get("x-forwarded-for", "").split(",") if hop.strip()]
    return next((hop for hop in reversed(hops) if hop not in trusted), client)


def _same_twice(form: Form) -> None:
    if form.text("password") != form.text("again"):
        raise Forbidden("The two passwords differ.", code="password")
