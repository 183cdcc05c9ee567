"""Links, passwords, lockout and sessions in the use cases."""

import asyncio
import threading
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from services.console.people import store
from services.console.people.domain import (
    browser_name,
    check_handle,
    check_name,
    delay_after,
    hash_token,
    narrower,
)
from services.console.people.passwords import WAITING, Passwords, check_password
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.find_token_holder import find_token_holder
from services.console.people.usecases.make_token import make_token
from services.console.people.usecases.sign_in import sign_in
from shared.clock import now
from shared.errors import Forbidden, Refused, TooMany, Unauthorized
from shared.ids import new_id
from tests.services.console.conftest import Desk
from tests.services.console.joining import GOOD, OWNER, made


async def test_a_session_ends_by_idleness_by_age_and_with_the_person(desk: Desk, passwords: Passwords) -> None:
    handle = await made(desk, passwords)
    token = await sign_in(desk.db, passwords, handle, GOOD, "192.0.2.1")
    found = await find_session(desk.db, token)
    assert found is not None and found.caller.role == "moderator"
    for column, age in (("seen_at", timedelta(hours=12, seconds=1)), ("created_at", timedelta(days=7, seconds=1))):
        async with desk.db.transaction() as tx:
            sql = f"UPDATE app.sessions SET {column} = $2 WHERE token_hash = $1"
            await tx.raw.execute(sql, hash_token(token), now() - age)
        assert await find_session(desk.db, token) is None
        async with desk.db.transaction() as tx:
            await tx.raw.execute(sql, hash_token(token), now())
    async with desk.db.transaction() as tx:
        await change_role(tx, desk.issuer, OWNER, UUID(found.caller.id), "viewer", disabled=False)
    assert await find_session(desk.db, token) is None


async def test_failed_tries_shut_the_account_and_then_the_address(desk: Desk, passwords: Passwords) -> None:
    handle, address = await made(desk, passwords), f"192.0.2.{uuid4().hex[:6]}"
    for _ in range(5):
        with pytest.raises(Unauthorized):
            await sign_in(desk.db, passwords, handle, "wrong", address)
    with pytest.raises(TooMany, match="opens again in"):
        await sign_in(desk.db, passwords, handle, GOOD, address)
    other = await made(desk, passwords)
    assert await sign_in(desk.db, passwords, other, GOOD, address)
    async with desk.db.transaction() as tx:
        for _ in range(15):
            failures, _ = await store.count_failure(tx, f"address:{address}", now())
        await store.shut_until(tx, f"address:{address}", now() + delay_after(failures, 20))
    with pytest.raises(TooMany):
        await sign_in(desk.db, passwords, other, GOOD, address)


async def test_many_tries_at_once_are_counted_like_tries_in_a_row(desk: Desk, passwords: Passwords) -> None:
    handle, address = await made(desk, passwords), f"192.0.2.{uuid4().hex[:6]}"
    tries = [sign_in(desk.db, passwords, handle, f"wrong {n}", address) for n in range(12)]
    answers = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(each).__name__ for each in answers) == ["TooMany"] * 7 + ["Unauthorized"] * 5


async def test_a_right_password_counts_as_no_try(desk: Desk, passwords: Passwords) -> None:
    handle, address = await made(desk, passwords), f"192.0.2.{uuid4().hex[:6]}"
    for _ in range(22):
        assert await sign_in(desk.db, passwords, handle, GOOD, address)
    assert (
        await desk.rows("SELECT 1 FROM app.sign_in_failures WHERE subject = $1 AND failures > 0", f"address:{address}")
        == []
    )


async def test_a_right_password_does_not_shut_an_address_that_is_open_again(desk: Desk, passwords: Passwords) -> None:
    handle, address = await made(desk, passwords), f"192.0.2.{uuid4().hex[:6]}"
    async with desk.db.transaction() as tx:
        for _ in range(40):
            await store.count_failure(tx, f"address:{address}", now())
        await store.shut_until(tx, f"address:{address}", now() - timedelta(seconds=1))
    for _ in range(3):
        assert await sign_in(desk.db, passwords, handle, GOOD, address)
    with pytest.raises(Unauthorized):
        await sign_in(desk.db, passwords, handle, "wrong", address)
    with pytest.raises(TooMany):
        await sign_in(desk.db, passwords, handle, GOOD, address)


async def test_others_guesses_do_not_keep_a_person_out_of_a_browser_she_has_used(
    desk: Desk, passwords: Passwords
) -> None:
    handle, address = await made(desk, passwords), f"192.0.2.{uuid4().hex[:6]}"
    for _ in range(5):
        with pytest.raises(Unauthorized):
            await sign_in(desk.db, passwords, handle, "wrong", address)
    with pytest.raises(TooMany):
        await sign_in(desk.db, passwords, handle, GOOD, address)
    assert await sign_in(desk.db, passwords, handle, GOOD, address, browser="hers")
    for _ in range(5):
        with pytest.raises(Unauthorized):
            await sign_in(desk.db, passwords, handle, "wrong", address, browser="stolen")
    with pytest.raises(TooMany):
        await sign_in(desk.db, passwords, handle, GOOD, address, browser="stolen")


def test_the_door_stays_shut_longer_each_time_and_never_for_ever() -> None:
    waits = [delay_after(n, 5).total_seconds() for n in range(4, 30)]
    assert waits[:4] == [0, 15, 30, 60]
    assert waits == sorted(waits) and waits[-1] == 900


async def test_a_token_does_at_most_what_its_person_may(desk: Desk, passwords: Passwords) -> None:
    handle = await made(desk, passwords, "member")
    token = await sign_in(desk.db, passwords, handle, GOOD, "192.0.2.2")
    session = await find_session(desk.db, token)
    assert session is not None
    async with desk.db.transaction() as tx:
        with pytest.raises(Forbidden):
            await make_token(tx, session.caller, "too much", "admin")
        key = await make_token(tx, session.caller, "import", "member")
    holder = await find_token_holder(desk.db, key)
    assert (holder.role, holder.via) == ("member", "api")
    async with desk.db.transaction() as tx:
        await change_role(tx, desk.issuer, OWNER, UUID(session.caller.id), "viewer", disabled=False)
    assert (await find_token_holder(desk.db, key)).role == "viewer"
    with pytest.raises(Unauthorized):
        await find_token_holder(desk.db, key + "x")


async def test_only_the_owner_manages_people_and_the_last_one_stays(desk: Desk, passwords: Passwords) -> None:
    async with desk.db.transaction() as tx:
        await tx.raw.execute("UPDATE app.people SET role = 'viewer' WHERE role = 'owner'")
        last = new_id()
        row = {
            "id": last,
            "handle": f"o-{last.hex}",
            "name": "Last",
            "role": "owner",
            "created_at": now(),
            "created_by": "t",
        }
        await store.add_person(tx, {**row, "password_hash": "x"})
        with pytest.raises(Refused, match="last owner"):
            await change_role(tx, desk.issuer, OWNER, last, "admin", disabled=False)
        with pytest.raises(Refused, match="last owner"):
            await change_role(tx, desk.issuer, OWNER, last, "owner", disabled=True)


@pytest.mark.parametrize("weak", ["short", "password1234", "aaaaaaaaaaaa", "qwertyuiop12", "ada lovelace"])
def test_an_easy_password_is_refused_with_advice(weak: str) -> None:
    with pytest.raises(Refused, match="password"):
        check_password(weak, "Ada Lovelace", "ada")


class Slow:
    """A hasher that takes as long as it is told to."""

    def __init__(self) -> None:
        self.done = threading.Event()

    def verify(self, *_: str) -> bool:
        return not self.done.wait(20)


async def test_a_flood_of_tries_finds_a_queue_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes when it is full is told at once, so that memory and waiting stay bounded."""
    passwords, slow = Passwords(), Slow()
    monkeypatch.setattr(passwords, "_hasher", slow)
    tries = [asyncio.create_task(passwords.verify("wrong", "stored")) for _ in range(WAITING + 20)]
    told, waiting = await asyncio.wait(tries, return_when=asyncio.FIRST_EXCEPTION)
    slow.done.set()
    assert all(isinstance(each.exception(), TooMany) for each in told)
    assert (len(told), len(waiting)) == (20, WAITING)
    assert not any(await asyncio.gather(*waiting))


async def test_a_stored_password_is_argon2id_at_its_full_cost() -> None:
    stored = await Passwords().hash(GOOD)
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$") and GOOD not in stored


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("curl/8.5 <script>", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_of_a_browser_only_a_coarse_name_is_kept(agent: str, shown: str) -> None:
    assert browser_name(agent) == shown


def test_handles_and_roles() -> None:
    assert check_handle(" Mara@Example.ORG ") == "mara@example.org"
    for bad in ("", "a b", "<x>", "a" * 300, "a\x00b", "ada\u200b", "\u202eada"):
        with pytest.raises(Refused):
            check_handle(bad)
    for bad in ("", "Mara\u202eonokO", "Ma\u200bra"):
        with pytest.raises(Refused):
            check_name(bad)
    assert narrower("owner", "member") == "member"
    assert narrower("viewer", "admin") == "viewer"
