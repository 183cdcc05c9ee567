"""How one becomes a person of the workplace: the first owner's link, and invitations. Looking at a link never uses it up."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, go
from services.console.forms import Form
from services.console.people.browser import browser_of, own_form, same_twice, signed_in
from services.console.people.domain import OPERATOR
from services.console.people.usecases.accept_invitation import accept_invitation
from services.console.people.usecases.prepare_newcomer import (
    Newcomer,
    check_invitation,
    check_link,
    prepare_newcomer,
)
from services.console.people.usecases.welcome_owner import welcome_owner
from services.console.queue.usecases.submit_item import read_draft, submit_item
from services.console.queue.usecases.wait_for import wait_for_queue
from services.console.welcome import EXAMPLE
from shared.errors import SchleuseError

PATIENCE = 2.0
"""Seconds that a first owner waits for the example to be in the queue, which the next page shows."""


class JoiningPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        open_page = self._desk.open_page
        return [
            Route("/welcome/{token}", open_page(self.welcome)),
            Route("/welcome/{token}", open_page(self.become_owner), methods=["POST"]),
            Route("/invitation/{token}", open_page(self.invitation)),
            Route("/invitation/{token}", open_page(self.accept), methods=["POST"]),
        ]

    async def welcome(self, request: Request) -> Response:
        async with self._console.db.reading() as tx:
            await check_link(tx, request.path_params["token"], "owner")
        return await self._show(request, "welcome.html")

    async def become_owner(self, request: Request) -> Response:
        form = await own_form(self._desk, request)
        try:
            owner = await self._newcomer(request, form, owner=True)
            async with self._console.db.transaction() as tx:
                token, browser = request.path_params["token"], browser_of(request)
                session = await welcome_owner(tx, self._console.identity, token, owner, browser)
                sent = await submit_item(tx, OPERATOR, read_draft("page", "en", "welcome", EXAMPLE))
        except SchleuseError as error:
            return await self._again(request, "welcome.html", form, error)
        await wait_for_queue(self._console.db, self._console.live, [sent.submission_id], PATIENCE)
        return await signed_in(self._desk, request, go("/queue"), owner.handle, session)

    async def invitation(self, request: Request) -> Response:
        async with self._console.db.reading() as tx:
            role, name, handle = await check_invitation(tx, request.path_params["token"])
        return await self._show(request, "invitation.html", role=role, given={"name": name, "handle": handle})

    async def accept(self, request: Request) -> Response:
        form, token = await own_form(self._desk, request), request.path_params["token"]
        async with self._console.db.reading() as tx:
            role, _, _ = await check_invitation(tx, token)
        try:
            newcomer = await self._newcomer(request, form, owner=False)
            async with self._console.db.transaction() as tx:
                session = await accept_invitation(tx, self._console.identity, token, newcomer, browser_of(request))
        except SchleuseError as error:
            return await self._again(request, "invitation.html", form, error, role=role)
        return await signed_in(self._desk, request, go("/queue"), newcomer.handle, session)

    async def _newcomer(self, request: Request, form: Form, *, owner: bool) -> Newcomer:
        same_twice(form)
        token, said = request.path_params["token"], {name: form.text(name) for name in ("name", "handle", "password")}
        return await prepare_newcomer(self._console.db, self._console.passwords, token, owner=owner, **said)

    async def _again(
        self, request: Request, template: str, form: Form, error: SchleuseError, **context: object
    ) -> Response:
        """The form once more, with what was wrong; a link that opens nothing has the one page for that."""
        if error.code == "link":
            raise error
        given = {name: form.text(name) for name in ("name", "handle")}
        return await self._show(request, template, error.status, refused=error, given=given, **context)

    async def _show(self, request: Request, template: str, status: int = 200, **context: object) -> Response:
        told = {"refused": None, "given": {"name": "", "handle": ""}} | context
        return await self._desk.show(request, template, None, status, **told)
