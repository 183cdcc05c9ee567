"""Somebody adds a mail account of their own. Its passwords were sealed before this is called; the agent is told of it without them (rule 15)."""

from collections.abc import Sequence
from datetime import datetime

from services.console.mail import store
from services.console.mail.domain import MOST_ACCOUNTS, Account, SealedPart
from services.console.mail.usecases.state_account import state_account
from services.console.people.domain import Caller
from services.console.secrets.domain import Change
from services.console.secrets.usecases.change_secret import change_own_secret
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.signing import SigningKey

WHY = "a mail account of one's own"


async def add_account(
    tx: Tx, key: SigningKey, caller: Caller, account: Account, parts: Sequence[SealedPart], at: datetime
) -> list[str]:
    """The hashes of the statements about its secrets. Conflict when the label is taken, Refused at the most accounts, NotFound for the connector."""
    if not await store.lock_person(tx, account.person_id):
        raise NotFound("There is no such person.")
    held = await store.mine(tx, account.person_id)
    if any(each.label.casefold() == account.label.casefold() for each in held):
        raise Conflict(f"You have a mail account {account.label} already; choose another label.", code="label")
    if len(held) >= MOST_ACCOUNTS:
        raise Refused(f"You have {MOST_ACCOUNTS} mail accounts, the most there can be; remove one first.", code="many")
    if account.connector not in {row["name"] for row in await store.mail_connectors(tx)}:
        raise NotFound("There is no such connector for mail.", code="connector")
    await store.add(tx, account, at)
    state_account(tx, account, at, account.version)
    return [await change_own_secret(tx, key, caller, _put(each)) for each in parts]


def _put(part: SealedPart) -> Change:
    return Change(part.place, "put", WHY, type=part.side, sealed=part.sealed, public=part.public)
