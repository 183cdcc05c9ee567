"""Guests of the site: a link for some days, revocable; what the site is told, and what stays inside."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from services.console.guests import store
from services.console.guests.domain import state_of
from services.console.guests.usecases.invite_guest import invite_guest
from services.console.guests.usecases.revoke_guest import revoke_guest
from services.console.people.domain import Caller, hash_token
from shared.clock import now
from shared.errors import Forbidden, NotFound, Refused
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk
from tests.services.console.joining import standings

ADMIN = Caller(str(uuid4()), "Ann", "admin")


async def invited(desk: Desk, label: str = "Press office", days: int = 7) -> tuple[str, UUID]:
    async with desk.db.transaction() as tx:
        token = await invite_guest(tx, desk.issuer, ADMIN, label, days)
    [row] = await desk.rows("SELECT subject FROM app.guests WHERE link_hash = $1", hash_token(token))
    return token, row["subject"]


async def test_the_site_is_told_a_hash_and_a_day_and_no_label(desk: Desk, keys: PublicKeys) -> None:
    token, subject = await invited(desk)
    [told] = await standings(desk, subject, keys)
    assert (told.audience, told.subject, told.role, told.version) == ("site", subject, "guest", 1)
    assert told.link_hash == hash_token(token)
    assert told.until is not None and timedelta(days=6) < told.until - now() <= timedelta(days=7)
    [row] = await desk.rows("SELECT body FROM app.outbox WHERE name = 'person.changed' AND key = $1", str(subject))
    assert token.encode() not in row["body"] and b"Press office" not in row["body"]
    assert not await desk.rows("SELECT 1 FROM app.guests g WHERE g::text LIKE '%' || $1 || '%'", token)


async def test_revoking_says_so_once(desk: Desk, keys: PublicKeys) -> None:
    _, subject = await invited(desk)
    async with desk.db.transaction() as tx:
        await revoke_guest(tx, desk.issuer, ADMIN, subject)
        with pytest.raises(NotFound):
            await revoke_guest(tx, desk.issuer, ADMIN, subject)
        with pytest.raises(NotFound):
            await revoke_guest(tx, desk.issuer, ADMIN, uuid4())
    told = await standings(desk, subject, keys)
    assert [(each.role, each.version, each.link_hash) for each in told][1:] == [(None, 2, None)]
    assert len(told) == 2


@pytest.mark.parametrize("days", [None, 0, -1, 91])
async def test_an_invitation_is_good_for_one_to_ninety_days(desk: Desk, days: int | None) -> None:
    async with desk.db.transaction() as tx:
        with pytest.raises(Refused, match="1 to 90"):
            await invite_guest(tx, desk.issuer, ADMIN, "Press", days)


@pytest.mark.parametrize("label", ["", "  ", "x" * 101, "a\u202eb", "a\x00"])
async def test_whom_it_is_for_is_said_visibly(desk: Desk, label: str) -> None:
    async with desk.db.transaction() as tx:
        with pytest.raises(Refused, match="whom"):
            await invite_guest(tx, desk.issuer, ADMIN, label, 3)


async def test_only_owner_and_admin_invite_and_revoke(desk: Desk) -> None:
    _, subject = await invited(desk)
    for role in ("moderator", "member", "viewer"):
        caller = Caller(str(uuid4()), "X", role)  # type: ignore[arg-type]
        async with desk.db.transaction() as tx:
            with pytest.raises(Forbidden):
                await invite_guest(tx, desk.issuer, caller, "Press", 3)
            with pytest.raises(Forbidden):
                await revoke_guest(tx, desk.issuer, caller, subject)


async def test_the_list_says_what_became_of_each(desk: Desk) -> None:
    _, expired = await invited(desk, "Old")
    _, open_one = await invited(desk, "New")
    async with desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.guests SET until = now() WHERE subject = $1", expired)
        with pytest.raises(NotFound):
            await revoke_guest(tx, desk.issuer, ADMIN, expired)
    async with desk.db.reading() as tx:
        rows = {row["subject"]: row for row in await store.list_guests(tx)}
    states = [state_of(rows[each]["until"], rows[each]["revoked_at"], now()) for each in (open_one, expired)]
    assert states == ["open", "expired"]
