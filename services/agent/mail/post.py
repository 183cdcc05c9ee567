"""Asking the connectors about an owner's mail, on their behalf and by their account alone. Passwords never come this way."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from schemas.outward import Owner
from schemas.statements import Signed
from services.agent.mail import store
from services.agent.mail.domain import MailAccount, chosen
from services.agent.owners.domain import Me
from shared.db import Database
from shared.errors import NotFound


class Asks(Protocol):
    """What of the asker is needed."""

    async def call(
        self, connector: str, operation: str, arguments: Mapping[str, Any] | None = None, *, secret: str = "",
        delegation: Signed | None = None, quoted: str = "",
    ) -> Any: ...  # fmt: skip


class Post:
    """`acting`: the word of the console by which the agent may act for somebody (S10)."""

    def __init__(self, db: Database, asker: Asks, acting: Callable[[Owner], Awaitable[Signed]]) -> None:
        self._db, self._asker, self._acting = db, asker, acting

    async def accounts(self, me: Me) -> Sequence[MailAccount]:
        """Of this person, without those that are gone. Guests have none (rule 15)."""
        if me.is_guest:
            raise NotFound("Guests have no mail accounts.", code="mail_account")
        async with self._db.owned(me.owner) as tx:
            return await store.open_ones(tx, me.owner)

    async def account(self, me: Me, name: str, *, sending: bool = False) -> MailAccount:
        return chosen(await self.accounts(me), name, sending=sending)

    async def ask(self, me: Me, account: MailAccount, operation: str, arguments: Mapping[str, Any]) -> Any:
        """What the mail server answers. Typed errors say what to do, and hold no value of a secret."""
        signed = await self._acting(me.owner)
        return await self._asker.call(
            account.connector, operation, {name: each for name, each in arguments.items() if each is not None},
            secret=account.secret, delegation=signed, quoted=f"{me.name}'s mail account {account.label}",
        )  # fmt: skip


def source_of(account: MailAccount) -> str:
    """Where untrusted text came from, in words that no mail has chosen."""
    return f"mail account {account.label}"
