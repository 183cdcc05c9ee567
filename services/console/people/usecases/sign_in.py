"""A person signs in with handle and password. Failed tries shut the account and the address, longer each time."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from services.console.people import store
from services.console.people.domain import ACCOUNT_TRIES, ADDRESS_TRIES, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.count_try import count_try
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
    db: Database, passwords: Passwords, handle: str, password: str, address: str, browser: str = "", shown: str = ""
) -> str:
    """The new session's token. Unauthorized for a wrong pair, TooMany while the door is shut.

    `browser` names one that this person is known to have signed in with, else empty; `shown` is what the list of sessions calls it.
    A try is counted before its password is looked at, so that a hundred tries at once are counted like a hundred in a row.
    Several transactions on purpose: the count must stay although the sign-in is refused, and hashing must not hold a connection.
    """
    handle, at = as_typed(handle), now()
    subjects = _subjects(handle, address, browser)
    async with db.transaction() as tx:
        await count_try(tx, subjects, at)
        row = await store.person_by_handle(tx, handle)
    stored = row["password_hash"] if row is not None and not row["disabled"] else None
    fits = await _fits(db, passwords, password, stored, subjects, at)  # asked for nobody too: it takes as long
    if row is None or not fits:
        raise _wrong()
    async with db.transaction() as tx:
        held = await store.person(tx, row["id"], lock=True)
        if held is None or held["disabled"] or held["password_hash"] != stored:
            raise _wrong()  # shut out, or the password was replaced, while it was looked at
        for subject in sorted(subjects):
            if subject.startswith("address:"):  # others may be guessing from there
                await store.take_back_failure(tx, subject, at)
            else:
                await store.forget_failures(tx, subject)
        return await start_session(tx, row["id"], shown)


def _wrong() -> Unauthorized:
    return Unauthorized("This name and password do not fit together.", code="sign_in")


async def _fits(
    db: Database, passwords: Passwords, password: str, stored: str | None, subjects: Mapping[str, int], at: datetime
) -> bool:
    try:
        return await passwords.verify(password, stored)
    except TooMany:  # it was not looked at, so it was no try
        async with db.transaction() as tx:
            for subject in sorted(subjects):
                await store.take_back_failure(tx, subject, at)
        raise


def as_typed(handle: str) -> str:
    """The handle that somebody means who typed this."""
    return handle.strip().lower().replace("\x00", "")


async def start_session(tx: Tx, person_id: UUID, browser: str = "") -> str:
    """The token, which only the cookie holds: always a new one, so that nobody can fix it beforehand."""
    token = new_token()
    await store.add_session(tx, hash_token(token), person_id, browser, now())
    return token
