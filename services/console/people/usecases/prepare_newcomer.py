"""What somebody who comes in by a link says about herself, checked, with the password hashed."""

from dataclasses import dataclass, field

from services.console.people import store
from services.console.people.domain import GONE, check_handle, check_name, hash_token
from services.console.people.passwords import Passwords, check_password
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import NotFound


@dataclass(frozen=True)
class Newcomer:
    name: str
    handle: str
    password_hash: str = field(repr=False)


async def check_link(tx: Tx, token: str, purpose: str) -> None:
    """NotFound when the link does not open anything (any more), or something else."""
    row = await store.open_link(tx, hash_token(token), now())
    if row is None or row["purpose"] != purpose:
        raise NotFound(GONE, code="link")


async def check_invitation(tx: Tx, token: str) -> tuple[str, str, str]:
    """(role, name, handle) that it offers. NotFound when it does not open anything (any more)."""
    row = await store.open_invitation(tx, hash_token(token), now())
    if row is None:
        raise NotFound(GONE, code="link")
    return row["role"], row["name"], row["handle"]


async def prepare_newcomer(
    db: Database, passwords: Passwords, token: str, *, owner: bool, name: str, handle: str, password: str
) -> Newcomer:
    """`owner`: by the link of the first one, else by an invitation. Looks at the link first: a stranger makes nobody hash.

    Hashing holds no connection, so it comes before the transaction that uses the link.
    """
    async with db.reading() as tx:
        await (check_link(tx, token, "owner") if owner else check_invitation(tx, token))
    name, handle = check_name(name), check_handle(handle)
    check_password(password, name, handle)
    return Newcomer(name, handle, await passwords.hash(password))
