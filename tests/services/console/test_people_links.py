"""Invitations and new passwords by link: once, in time, for their purpose, and stored hashed."""

from uuid import UUID, uuid4

import pytest

from schemas.statements import Standing
from services.console.people import views
from services.console.people.domain import GONE, Caller, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.change_password import change_password
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.invite_person import invite_person, revoke_invitation
from services.console.people.usecases.offer_reset import offer_reset
from services.console.people.usecases.prepare_newcomer import check_invitation, check_link
from services.console.people.usecases.set_password import set_password
from services.console.people.usecases.sign_in import sign_in
from shared.clock import now
from shared.errors import Forbidden, NotFound, Refused, TooMany, Unauthorized
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk
from tests.services.console.joining import GOOD, OWNER, invited, join, joined, made, standings

OTHER = "harbour mitten violet crane"


async def refused_with(desk: Desk, passwords: Passwords, token: str) -> str:
    with pytest.raises(NotFound) as gone:
        await join(desk, passwords, token, f"p-{uuid4().hex[:10]}")
    return gone.value.message


async def test_an_invitation_makes_a_person_once_and_is_stored_hashed(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    token, handle = await invited(desk, "member"), f"p-{uuid4().hex[:10]}"
    assert await desk.rows("SELECT 1 FROM app.people WHERE handle = $1", handle) == []
    session = await find_session(desk.db, await join(desk, passwords, token, handle))
    assert session is not None and session.caller.role == "member"
    assert await refused_with(desk, passwords, token) == GONE
    assert len(await desk.rows("SELECT 1 FROM app.invitations WHERE token_hash = $1", hash_token(token))) == 1
    assert not await desk.rows("SELECT 1 FROM app.invitations i WHERE i::text LIKE '%' || $1 || '%'", token)
    told = await standings(desk, session.caller.id, keys)
    assert {(each.audience, each.role, each.version) for each in told} == {
        ("agent", "member", 1),
        ("site", "member", 1),
    }
    assert {str(each.subject) for each in told if each.audience == "agent"} == {session.caller.id}
    assert all(str(each.subject) != session.caller.id for each in told if each.audience == "site")


async def test_used_expired_revoked_and_made_up_invitations_say_the_same_and_change_nothing(
    desk: Desk, passwords: Passwords
) -> None:
    used, expired, revoked = [await invited(desk) for _ in range(3)]
    await join(desk, passwords, used, f"p-{uuid4().hex[:10]}")
    async with desk.db.transaction() as tx:
        age = "UPDATE app.invitations SET expires_at = now() WHERE token_hash = $1"
        await tx.raw.execute(age, hash_token(expired))
    [row] = await desk.rows("SELECT id FROM app.invitations WHERE token_hash = $1", hash_token(revoked))
    async with desk.db.transaction() as tx:
        await revoke_invitation(tx, OWNER, row["id"])
        with pytest.raises(NotFound):
            await revoke_invitation(tx, OWNER, row["id"])
    before = await desk.rows("SELECT count(*) FROM app.people")
    said = {await refused_with(desk, passwords, token) for token in (used, expired, revoked, "a" * 43, "")}
    assert said == {GONE}
    assert await desk.rows("SELECT count(*) FROM app.people") == before


async def test_a_link_of_one_purpose_opens_nothing_else(desk: Desk, passwords: Passwords) -> None:
    caller, _ = await joined(desk, passwords)
    invitation = await invited(desk)
    async with desk.db.transaction() as tx:
        reset = await offer_reset(tx, OWNER, UUID(caller.id))
    async with desk.db.reading() as tx:
        for token, purpose in ((invitation, "owner"), (invitation, "password"), (reset, "owner")):
            with pytest.raises(NotFound):
                await check_link(tx, token, purpose)
        with pytest.raises(NotFound):
            await check_invitation(tx, reset)
    with pytest.raises(NotFound):
        await set_password(desk.db, passwords, desk.issuer, invitation, OTHER)


async def test_a_handle_that_is_taken_leaves_the_invitation_open(desk: Desk, passwords: Passwords) -> None:
    handle, token = await made(desk, passwords), await invited(desk)
    with pytest.raises(Refused, match="taken"):
        await join(desk, passwords, token, handle)
    assert await join(desk, passwords, token, f"p-{uuid4().hex[:10]}")
    async with desk.db.transaction() as tx:
        with pytest.raises(Refused, match="taken"):
            await invite_person(tx, OWNER, "viewer", "", handle.upper())


async def test_only_an_owner_invites_resets_and_sees_what_is_open(desk: Desk, passwords: Passwords) -> None:
    caller, _ = await joined(desk, passwords)
    for role in ("admin", "moderator", "member", "viewer"):
        other = Caller(str(uuid4()), "X", role)  # type: ignore[arg-type]
        async with desk.db.transaction() as tx:
            for attempt in (
                invite_person(tx, other, "owner"),
                offer_reset(tx, other, UUID(caller.id)),
                change_role(tx, desk.issuer, other, UUID(caller.id), "owner", disabled=False),
                revoke_invitation(tx, other, uuid4()),
            ):
                with pytest.raises(Forbidden):
                    await attempt
    token = await invited(desk)
    async with desk.db.reading() as tx:
        assert hash_token(token) in {row["token_hash"] for row in await views.open_invitations(tx, now())}


async def test_a_new_password_by_link_ends_everything_that_was_begun(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, session = await joined(desk, passwords)
    [handle] = [
        row["handle"] for row in await desk.rows("SELECT handle FROM app.people WHERE id = $1", UUID(caller.id))
    ]
    async with desk.db.transaction() as tx:
        older = await offer_reset(tx, OWNER, UUID(caller.id))
        token = await offer_reset(tx, OWNER, UUID(caller.id))
    assert await find_session(desk.db, session), "a link that nobody has used changes nothing"
    with pytest.raises(NotFound):
        await set_password(desk.db, passwords, desk.issuer, older, OTHER)
    begun = now()
    await set_password(desk.db, passwords, desk.issuer, token, OTHER)
    assert await find_session(desk.db, session) is None
    with pytest.raises(NotFound):
        await set_password(desk.db, passwords, desk.issuer, token, OTHER)
    with pytest.raises(Unauthorized):
        await sign_in(desk.db, passwords, handle, GOOD, "192.0.2.3")
    assert await sign_in(desk.db, passwords, handle, OTHER, "192.0.2.3")
    newest = (await standings(desk, caller.id, keys))[-2:]
    assert all(each.sessions_from >= begun and each.version == 2 for each in newest)


async def test_a_reset_opens_an_account_that_was_shut_by_guessing(desk: Desk, passwords: Passwords) -> None:
    handle = await made(desk, passwords)
    for n in range(5):
        with pytest.raises(Unauthorized):
            await sign_in(desk.db, passwords, handle, f"wrong {n}", f"198.51.100.{n}")
    with pytest.raises(TooMany):
        await sign_in(desk.db, passwords, handle, GOOD, "198.51.100.9")
    [row] = await desk.rows("SELECT id FROM app.people WHERE handle = $1", handle)
    async with desk.db.transaction() as tx:
        token = await offer_reset(tx, OWNER, row["id"])
    await set_password(desk.db, passwords, desk.issuer, token, OTHER)
    assert await sign_in(desk.db, passwords, handle, OTHER, "198.51.100.9")


async def test_ones_own_new_password_asks_for_the_old_one_and_ends_the_other_browsers(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, here = await joined(desk, passwords)
    [row] = await desk.rows("SELECT handle FROM app.people WHERE id = $1", UUID(caller.id))
    there = await sign_in(desk.db, passwords, row["handle"], GOOD, "192.0.2.4")
    session = await find_session(desk.db, here)
    assert session is not None
    with pytest.raises(Forbidden):
        await change_password(desk.db, passwords, desk.issuer, session, "not it", OTHER)
    assert await find_session(desk.db, there)
    await change_password(desk.db, passwords, desk.issuer, session, GOOD, OTHER)
    assert await find_session(desk.db, there) is None
    assert await find_session(desk.db, here)
    assert len(await standings(desk, caller.id, keys)) == 4


async def test_the_old_password_cannot_be_guessed_through_a_session_either(desk: Desk, passwords: Passwords) -> None:
    _, here = await joined(desk, passwords)
    session = await find_session(desk.db, here)
    assert session is not None
    for n in range(5):
        with pytest.raises(Forbidden):
            await change_password(desk.db, passwords, desk.issuer, session, f"wrong {n}", OTHER)
    with pytest.raises(TooMany):
        await change_password(desk.db, passwords, desk.issuer, session, GOOD, OTHER)


async def test_a_person_who_is_shut_out_has_no_way_in(desk: Desk, passwords: Passwords, keys: PublicKeys) -> None:
    caller, session = await joined(desk, passwords)
    person_id = UUID(caller.id)
    [row] = await desk.rows("SELECT handle FROM app.people WHERE id = $1", person_id)
    async with desk.db.transaction() as tx:
        reset = await offer_reset(tx, OWNER, person_id)
        assert await change_role(tx, desk.issuer, OWNER, person_id, None, disabled=True)
        with pytest.raises(Refused, match="shut out"):
            await offer_reset(tx, OWNER, person_id)
    assert await find_session(desk.db, session) is None
    with pytest.raises(NotFound):
        await set_password(desk.db, passwords, desk.issuer, reset, OTHER)
    with pytest.raises(Unauthorized):
        await sign_in(desk.db, passwords, row["handle"], GOOD, "192.0.2.5")
    newest = (await standings(desk, caller.id, keys))[-2:]
    assert [each.role for each in newest] == [None, None]
    async with desk.db.transaction() as tx:
        assert await change_role(tx, desk.issuer, OWNER, person_id, None, disabled=False)
    assert [each.role for each in (await standings(desk, caller.id, keys))[-2:]] == ["moderator", "moderator"]


@pytest.mark.parametrize(("role", "out"), [("viewer", False), ("owner", True)])
async def test_links_that_an_owner_made_end_with_the_role(
    desk: Desk, passwords: Passwords, role: str, out: bool
) -> None:
    (owner, _), (other, _) = await joined(desk, passwords, "owner"), await joined(desk, passwords, "owner")
    async with desk.db.transaction() as tx:
        invitation, reset = await invite_person(tx, owner, "owner"), await offer_reset(tx, owner, UUID(other.id))
        kept = await invite_person(tx, other, "member")
        assert await change_role(tx, desk.issuer, other, UUID(owner.id), role, disabled=out)
    assert await refused_with(desk, passwords, invitation) == GONE
    with pytest.raises(NotFound):
        await set_password(desk.db, passwords, desk.issuer, reset, OTHER)
    assert await join(desk, passwords, kept, f"p-{uuid4().hex[:10]}")


async def test_a_role_that_stays_ends_nothing(desk: Desk, passwords: Passwords, keys: PublicKeys) -> None:
    caller, session = await joined(desk, passwords)
    async with desk.db.transaction() as tx:
        assert not await change_role(tx, desk.issuer, OWNER, UUID(caller.id), "moderator", disabled=False)
        assert await change_role(tx, desk.issuer, OWNER, UUID(caller.id), "viewer", disabled=None)
    assert await find_session(desk.db, session) is None
    told: list[Standing] = await standings(desk, caller.id, keys)
    assert [(each.role, each.version) for each in told[2:]] == [("viewer", 2), ("viewer", 2)]
