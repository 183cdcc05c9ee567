"""One's own mail accounts: add one, give it a new password, remove it. Everybody who is signed in has their own, and sees nobody else's."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.mail import store
from services.console.mail.domain import Account, Side
from services.console.mail.forms import read_account, read_passwords
from services.console.mail.showing import shown_account, shown_connectors
from services.console.mail.usecases.add_account import add_account
from services.console.mail.usecases.change_password import change_password
from services.console.mail.usecases.remove_account import remove_account
from services.console.secrets.forms import Given, shown_again
from services.console.secrets.usecases.wait_for_change import wait_for_change
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from shared.sealing import read_recipient

PATIENCE = 10.0


class MailPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/me/mail", page(self.list)),
            Route("/me/mail", page(self.add), methods=["POST"]),
            Route("/me/mail/{account_id}/password", page(self.password), methods=["POST"]),
            Route("/me/mail/{account_id}/remove", page(self.remove), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        return await self._list(visit)

    async def add(self, visit: Visit) -> Response:
        console = self._console
        try:
            account, parts = read_account(visit.form, UUID(visit.caller.id), self._recipient)
            async with console.db.transaction() as tx:
                key = await console.ring.signing(tx)
                statements = await add_account(tx, key, visit.caller, account, parts, now())
            await self._taken(account, statements)
        except (Refused, Conflict, NotFound) as refused:
            return await self._list(visit, refused.status, refused=refused, given=shown_again(visit.form))
        return go("/me/mail#main")

    async def password(self, visit: Visit) -> Response:
        console, account = self._console, await self._account(visit)
        try:
            async with console.db.reading() as tx:
                held = await store.secrets_of(tx, [str(account.place(side)) for side in account.sides])
            public: dict[Side, Any] = {
                side: held[place]["public"] for side in account.sides if (place := str(account.place(side))) in held
            }
            parts = read_passwords(visit.form, account, public, self._recipient)
            async with console.db.transaction() as tx:
                statements = await change_password(tx, await console.ring.signing(tx), visit.caller, parts)
            await self._settled(statements)
        except (Refused, Conflict) as refused:
            return await self._list(visit, refused.status, refused=refused, about=account.account_id)
        return go("/me/mail#main")

    async def remove(self, visit: Visit) -> Response:
        async with self._console.db.transaction() as tx:
            await remove_account(tx, UUID(visit.caller.id), _account_id(visit), now())
            tx.after_commit(self._console.wake_mail)
        return go("/me/mail#main")

    async def _taken(self, account: Account, statements: Sequence[str]) -> None:
        """An account whose secrets the connectors refuse is none: it is gone again."""
        try:
            await self._settled(statements)
        except Conflict:
            async with self._console.db.transaction() as tx:
                await remove_account(tx, account.person_id, account.account_id, now())
                tx.after_commit(self._console.wake_mail)
            raise

    async def _settled(self, statements: Sequence[str]) -> None:
        """Returns when they are in force, or when nobody answered in time."""
        for each in statements:
            outcome, reason = await wait_for_change(self._console.db, self._console.live, each, PATIENCE)
            if outcome == "refused":
                raise Conflict(f"Nothing was changed: {reason}", code="refused")

    async def _account(self, visit: Visit) -> Account:
        async with self._console.db.transaction() as tx:
            found = await store.one(tx, UUID(visit.caller.id), _account_id(visit))
        if found is None:
            raise NotFound("There is no such mail account.", code="mail_account")
        return found

    async def _list(self, visit: Visit, status: int = 200, **context: Any) -> Response:
        async with self._console.db.reading() as tx:
            accounts = await store.mine(tx, UUID(visit.caller.id))
            places = [str(account.place(side)) for account in accounts for side in account.sides]
            held, coming = await store.secrets_of(tx, places), await store.coming(tx, places)
            connectors = await store.mail_connectors(tx)
        rows = [shown_account(account, held, coming) for account in accounts]
        told: dict[str, Any] = {"refused": None, "given": Given(), "about": None} | context
        return await visit.show("mail.html", status, rows=rows, connectors=shown_connectors(connectors), **told)

    @property
    def _recipient(self) -> str:
        return read_recipient(self._console.settings.public_keys)


def _account_id(visit: Visit) -> UUID:
    return as_uuid(visit.request.path_params["account_id"])
