"""People who can sign in, made as the pages make them, and what was staged about them."""

import json
from typing import Any
from uuid import UUID, uuid4

from schemas.statements import SessionEnd, Signed, Standing
from services.console.people.domain import Caller, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.accept_invitation import accept_invitation
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.invite_person import invite_person
from services.console.people.usecases.prepare_newcomer import prepare_newcomer
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk

GOOD = "ferry walnut quartz pond"
OWNER = Caller(str(uuid4()), "Lina Faber", "owner")


async def invited(desk: Desk, role: str = "moderator") -> str:
    async with desk.db.transaction() as tx:
        return await invite_person(tx, OWNER, role)


async def join(desk: Desk, passwords: Passwords, token: str, handle: str) -> str:
    """The new session's token."""
    newcomer = await prepare_newcomer(desk.db, passwords, token, owner=False, name="Ada", handle=handle, password=GOOD)
    async with desk.db.transaction() as tx:
        return await accept_invitation(tx, desk.issuer, token, newcomer, "Firefox on Linux")


async def joined(desk: Desk, passwords: Passwords, role: str = "moderator") -> tuple[Caller, str]:
    """A person and the token of her first session."""
    token = await join(desk, passwords, await invited(desk, role), f"p-{uuid4().hex[:10]}")
    session = await find_session(desk.db, token)
    assert session is not None
    return session.caller, token


async def made(desk: Desk, passwords: Passwords, role: str = "moderator") -> str:
    """The handle of a person who can sign in."""
    handle = f"p-{uuid4().hex[:10]}"
    await join(desk, passwords, await invited(desk, role), handle)
    return handle


async def standings(desk: Desk, key: UUID | str, keys: PublicKeys) -> list[Standing]:
    """What was staged about a person or guest, verified, in order."""
    rows = await desk.rows("SELECT body FROM app.outbox WHERE name = 'person.changed' AND key = $1 ORDER BY position", str(key))  # fmt: skip
    return [
        keys.verify("identity", Signed.model_validate(each), Standing)
        for row in rows
        for each in _data(row)["standings"]
    ]


async def endings(desk: Desk, session: str, keys: PublicKeys) -> list[SessionEnd]:
    key = str(desk.issuer.sid("agent", hash_token(session)))
    rows = await desk.rows("SELECT body FROM app.outbox WHERE name = 'session.ended' AND key = $1", key)
    return [
        keys.verify("identity", Signed.model_validate(each), SessionEnd)
        for row in rows
        for each in _data(row)["endings"]
    ]


def _data(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["body"])["data"]
    return found
