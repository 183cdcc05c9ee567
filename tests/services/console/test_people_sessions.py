"""Signing out: here, there, everywhere; what the other surfaces are told; open streams."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from services.console.identity.usecases.restate_standings import restate_standings
from services.console.live import END, Live
from services.console.people import store, views
from services.console.people.domain import Caller, hash_token, session_name
from services.console.people.passwords import Passwords
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.find_token_holder import find_token_holder
from services.console.people.usecases.make_token import make_token
from services.console.people.usecases.sign_in import start_session
from services.console.people.usecases.sign_out import sign_out, sign_out_there
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from services.console.people.watch import SessionWatch
from shared.clock import now
from shared.errors import Forbidden, NotFound, Unauthorized
from shared.ids import new_id
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk
from tests.services.console.joining import OWNER, endings, joined, standings


async def second_session(desk: Desk, caller: Caller) -> str:
    async with desk.db.transaction() as tx:
        return await start_session(tx, UUID(caller.id), "Safari on iPhone")


async def test_signing_out_ends_one_sign_in_and_names_it_to_both_surfaces_once(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, session = await joined(desk, passwords)
    other = await second_session(desk, caller)
    for _ in range(2):
        async with desk.db.transaction() as tx:
            await sign_out(tx, desk.issuer, hash_token(session))
    assert await find_session(desk.db, session) is None
    assert await find_session(desk.db, other)
    told = await endings(desk, session, keys)
    assert {(each.audience, each.sid) for each in told} == {
        (audience, desk.issuer.sid(audience, hash_token(session))) for audience in ("agent", "site")
    }
    assert len({each.sid for each in told}) == 2, "the two surfaces cannot compare notes"
    assert await endings(desk, other, keys) == []


async def test_one_of_the_list_is_signed_out_by_its_name_and_nobody_elses(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, session = await joined(desk, passwords)
    stranger, _ = await joined(desk, passwords)
    other = await second_session(desk, caller)
    async with desk.db.reading() as tx:
        listed = await views.sessions_of(tx, UUID(caller.id), now())
    assert [row["browser"] for row in listed] == ["Safari on iPhone", "Firefox on Linux"]
    name = session_name(hash_token(other))
    async with desk.db.transaction() as tx:
        with pytest.raises(NotFound):
            await sign_out_there(tx, desk.issuer, UUID(stranger.id), name)
        assert await sign_out_there(tx, desk.issuer, UUID(caller.id), name) == hash_token(other)
        with pytest.raises(NotFound):
            await sign_out_there(tx, desk.issuer, UUID(caller.id), name)
    assert await find_session(desk.db, session)
    assert len(await endings(desk, other, keys)) == 2


async def test_everywhere_ends_all_and_api_tokens_only_when_asked(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, session = await joined(desk, passwords)
    async with desk.db.transaction() as tx:
        key = await make_token(tx, caller, "import", "viewer")
        assert await sign_out_everywhere(tx, desk.issuer, caller, UUID(caller.id), tokens=False) == 0
    assert await find_session(desk.db, session) is None
    assert (await find_token_holder(desk.db, key)).role == "viewer"
    told = await standings(desk, caller.id, keys)
    assert [(each.role, each.version) for each in told[2:]] == [("moderator", 2), ("moderator", 2)]
    assert all(new.sessions_from > old.sessions_from for old, new in zip(told[:2], told[2:], strict=True))
    async with desk.db.transaction() as tx:
        assert await sign_out_everywhere(tx, desk.issuer, OWNER, UUID(caller.id), tokens=True) == 1
    with pytest.raises(Unauthorized):
        await find_token_holder(desk.db, key)


async def test_nobody_but_an_owner_signs_others_out(desk: Desk, passwords: Passwords) -> None:
    caller, session = await joined(desk, passwords)
    admin = Caller(str(uuid4()), "A", "admin")
    async with desk.db.transaction() as tx:
        with pytest.raises(Forbidden):
            await sign_out_everywhere(tx, desk.issuer, admin, UUID(caller.id), tokens=False)
        with pytest.raises(NotFound):
            await sign_out_everywhere(tx, desk.issuer, OWNER, uuid4(), tokens=False)
    assert await find_session(desk.db, session)


async def test_a_stream_ends_within_a_second_whoever_ended_the_sign_in(desk: Desk, passwords: Passwords) -> None:
    caller, session = await joined(desk, passwords)
    other = await second_session(desk, caller)
    live = Live()
    watch = SessionWatch(desk.db, live)
    await watch.start()
    try:
        async with live.listen(hash_token(session), caller.id) as gone, live.listen(hash_token(other)) as stays:
            begun = now()
            async with desk.db.transaction() as tx:  # as another process of the console would
                await sign_out(tx, desk.issuer, hash_token(session))
            assert await gone.messages.get() == END
            assert now() - begun < timedelta(seconds=1)
            assert stays.messages.empty()
    finally:
        await watch.stop()


async def test_an_older_installations_people_are_told_of_once(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    person, waiting = new_id(), new_id()
    async with desk.db.transaction() as tx:
        for each, password in ((person, "x"), (waiting, None)):
            row = {"id": each, "handle": f"p-{each.hex}", "name": "Old", "role": "admin", "created_at": now()}
            await store.add_person(tx, {**row, "created_by": "t", "password_hash": password})
    while True:
        async with desk.db.transaction() as tx:
            if not await restate_standings(tx, desk.issuer, 50):
                break
    told = await standings(desk, person, keys)
    assert {(each.audience, each.role, each.version) for each in told} == {("agent", "admin", 1), ("site", "admin", 1)}
    assert await standings(desk, waiting, keys) == [], "who cannot sign in is nobody there"
