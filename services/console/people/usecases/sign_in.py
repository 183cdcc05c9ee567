"""A person signs in with handle and password. Failed tries shut the account and the address, longer each time."""

from datetime import datetime, timedelta
from uuid import UUID

from services.console.people import store
from services.console.people.domain import (
    ACCOUNT_TRIES,
    ADDRESS_TRIES,
    delay_after,
    hash_token,
    in_words,
)
from services.console.people.passwords import Passwords
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import TooMany, Unauthorized
from shared.ids import new_token


def _subjects(handle: str, address: str) -> dict[str, int]:
    return {f"account:{handle[:255]}": ACCOUNT_TRIES, f"address:{address}": ADDRESS_TRIES}


async def sign_in(db: Database, passwords: Passwords, handle: str, password: str, address: str) -> str:
    """The new session's token. Unauthorized for a wrong pair, TooMany while the door is shut.

    Several transactions on purpose: a failure must be counted although the sign-in is refused, and hashing
    must not hold a connection.
    """
    handle, at = handle.strip().lower().replace("\x00", ""), now()
    subjects = _subjects(handle, address)
    async with db.reading() as tx:
        await _refuse_while_shut(tx, subjects, at)
        row = await store.person_by_handle(tx, handle)
    usable = row is not None and not row["disabled"]
    if not await passwords.verify(password, row["password_hash"] if row and usable else None):
        async with db.transaction() as tx:
            await _count(tx, subjects, at)
        raise Unauthorized("This name and password do not fit together.", code="sign_in")
    assert row is not None
    async with db.transaction() as tx:
        await store.forget_failures(tx, f"account:{handle[:255]}")
        return await start_session(tx, row["id"])


async def start_session(tx: Tx, person_id: UUID) -> str:
    token = new_token()
    await store.add_session(tx, hash_token(token), person_id, now())
    return token


async def _refuse_while_shut(tx: Tx, subjects: dict[str, int], at: datetime) -> None:
    waits = [row["open_at"] - at for row in await store.failures_of(tx, list(subjects)) if row["open_at"]]
    longest = max(waits, default=timedelta(0))
    if longest > timedelta(0):
        raise TooMany(
            f"Too many failed tries. Sign-in opens again in {in_words(longest)}; the right password will not help sooner.",
            code="locked",
        )


async def _count(tx: Tx, subjects: dict[str, int], at: datetime) -> None:
    for subject, allowed in sorted(subjects.items()):
        wait = delay_after(await store.count_failure(tx, subject, at), allowed)
        if wait:
            await store.shut_until(tx, subject, at + wait)
