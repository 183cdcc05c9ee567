"""Mail accounts as the agent knows them: what they are called, never how one signs in. No framework."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from shared.errors import NotFound, Refused

NONE_YET = "You have no mail account here. Add one on your own page of the console, under Mail accounts; its password never goes through this chat."


@dataclass(frozen=True)
class MailAccount:
    """`connector` and `secret`: by what it is asked for; the password is the connectors' (rule 16). `reads`, `sends`: for what there is a sign-in."""

    account_id: UUID
    label: str
    connector: str
    secret: str
    address: str
    reads: bool
    sends: bool
    deleted_at: datetime | None = None


def chosen(accounts: Sequence[MailAccount], name: str, *, sending: bool = False) -> MailAccount:
    """As `named`, and able to do it."""
    account = named(accounts, name)
    if sending and not account.sends:
        raise Refused(
            f"The account {account.label} can only be read: no server for sending was given for it.",
            code="mail_account",
        )
    if not sending and not account.reads:
        raise Refused(f"The account {account.label} can only send: no mailbox was given for it.", code="mail_account")
    return account


def named(accounts: Sequence[MailAccount], name: str) -> MailAccount:
    """The account of this label or address, or the only one there is. NotFound, Refused say which there are; there is no default among several."""
    if not accounts:
        raise NotFound(NONE_YET, code="mail_account")
    labels = ", ".join(each.label for each in accounts)
    wanted = name.strip().casefold()
    found = [each for each in accounts if not wanted or wanted in (each.label.casefold(), each.address.casefold())]
    if not found:
        raise NotFound(f"You have no mail account {name[:80]!r}; there are {labels}.", code="mail_account")
    if len(found) > 1:
        raise Refused(f"You have several mail accounts; name one of them: {labels}.", code="mail_account")
    return found[0]
