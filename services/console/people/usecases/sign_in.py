"""A person signs in with handle and password. Failed tries shut the account and the address, longer each time."""

from datetime import datetime
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


def _subjects(handle: str, address: str, browser: str) -> dict[str, int]:
    """What a try counts against. A browser that this person has signed in with has a count of its own:

    nobody else's wrong guesses can keep the person out of it.
    """
    if browser:
        return {f"browser:{hash_token(browser)}": ACCOUNT_TRIES}
    return {f"account:{handle[:255]}": ACCOUNT_TRIES, f"address:{address}": ADDRESS_TRIES}


async def sign_in(
    db: Database, passwords: Passwords, handle: str, password: str, address: str, browser: str = ""
) -> str:
    """The new session's token. Unauthorized for a wrong pair, TooMany while the door is shut.

    `browser` names one that this person is known to have signed in with, else empty.
    A try is counted before its password is looked at, so that a hundred tries at once are counted like a hundred in a row.
    Several transactions on purpose: the count must stay although the sign-in is refused, and hashing must not hold a connection.
    """
    handle, at = as_typed(handle), now()
    subjects = _subjects(handle, address, browser)
    async with db.transaction() as tx:
        await _count_try(tx, subjects, at)
        row = await store.person_by_handle(tx, handle)
    usable = row is not None and not row["disabled"]
    if not await passwords.verify(password, row["password_hash"] if row and usable else None):
        raise Unauthorized("This name and password do not fit together.", code="sign_in")
    assert row is not None
    async with db.transaction() as tx:
        for subject in sorted(subjects):
            if subject.startswith("address:"):  # others may be guessing from there
                await store.take_back_failure(tx, subject, at)
            else:
                await store.forget_failures(tx, subject)
        return await start_session(tx, row["id"])


def as_typed(handle: str) -> str:
    """The handle that somebody means who typed this."""
    return handle.strip().lower().replace("\x00", "")


async def start_session(tx: Tx, person_id: UUID) -> str:
    token = new_token()
    await store.add_session(tx, hash_token(token), person_id, now())
    return token


async def _count_try(tx: Tx, subjects: dict[str, int], at: datetime) -> None:
    """One more try, or TooMany (which takes the count back) while a subject is shut. Subjects are locked in one order."""
    await store.forget_old_failures(tx, at)
    for subject, allowed in sorted(subjects.items()):
        failures, open_at = await store.count_failure(tx, subject, at)
        if open_at is not None and open_at > at:
            raise TooMany(
                f"Too many failed tries. Sign-in opens again in {in_words(open_at - at)}; the right password will not help sooner.",
                code="locked",
            )
        wait = delay_after(failures, allowed)
        if wait:
            await store.shut_until(tx, subject, at + wait)
