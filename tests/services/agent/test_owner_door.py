"""Who is asking, at the agent's one door: a session, a key, or nobody; and that what they came by is asked about again and again (S8, rule 24)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from starlette.requests import Request

from schemas.outward import Owner
from services.agent.owners.domain import Me
from services.agent.owners.door import OwnerDoor
from services.agent.owners.key_watch import KeyWatch
from services.agent.owners.settings import AgentSettings
from services.agent.owners.still import StillThere
from shared.clock import now
from shared.db.notices import Notices
from shared.errors import Refused, Unauthorized
from shared.health import Health
from shared.identity import Sessions, TokenReader, store
from shared.identity.sessions import hash_token
from shared.identity.store import Found
from shared.identity.streams import Streams
from shared.ids import new_token
from shared.testing.servers import Servers
from tests.factories.owners import OwnerOffice, owner_office

COOKIE = "agent"


@pytest.fixture
async def office(servers: Servers) -> AsyncIterator[OwnerOffice]:
    async with owner_office(servers) as found:
        yield found


@asynccontextmanager
async def door(office: OwnerOffice) -> AsyncIterator[OwnerDoor]:
    streams, watch = Streams(office.db), KeyWatch(office.access)
    await streams.start()
    await watch.start()
    reader = TokenReader(office.keys, "agent", "http://localhost")
    yield OwnerDoor(office.db, Sessions(office.db, reader), office.access, streams, watch, COOKIE)
    await streams.stop()
    await watch.stop()


def request(*headers: tuple[str, str]) -> Request:
    return Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(name.encode(), value.encode()) for name, value in headers]})  # fmt: skip


def bearer(key: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {key}")


async def session(office: OwnerOffice, who: UUID, *, renew_in: float = 600, role: str = "member") -> tuple[str, str]:
    """The cookie's header of somebody who is signed in."""
    cookie, at = new_token(), now()
    ends = at + timedelta(hours=12)
    found = Found(hash_token(cookie), who, uuid4(), "Ada", role, at, at + timedelta(seconds=renew_in), ends)
    async with office.db.transaction() as tx:
        await store.begin(tx, found)
    return ("cookie", f"{COOKIE}={cookie}")


async def test_whoever_brings_nothing_is_a_guest_and_whoever_brings_something_wrong_is_nobody(office: OwnerOffice) -> None:  # fmt: skip
    who = await office.person("member")
    key = await office.key_of(who)
    cookie = await session(office, who)
    async with door(office) as found:
        assert await found.me(request()) is None
        assert await found.me(request(("cookie", f"{COOKIE}=x"))) is None
        assert await found.me(request(("cookie", f"other={cookie[1]}"))) is None
        for wrong in (
            ("authorization", ""),
            ("authorization", key),
            ("authorization", f"Basic {key}"),
            bearer(key + "x"),
            bearer(""),
        ):
            with pytest.raises(Unauthorized):
                await found.me(request(wrong, cookie))
        with pytest.raises(Unauthorized):
            await found.me(request(bearer(key), bearer(key)))


async def test_the_owner_is_the_sessions_or_the_keys_and_the_key_counts_more(office: OwnerOffice) -> None:
    who, other = await office.person("admin"), await office.person("viewer")
    key, cookie = await office.key_of(other), await session(office, who, role="admin")
    async with door(office) as found:
        me = await found.me(request(cookie))
        assert me is not None and (me.owner, me.role, me.app) == (Owner(kind="user", id=str(who)), "admin", "chat")
        by_key = await found.me(request(bearer(key), cookie))
        assert by_key is not None and (by_key.owner.id, by_key.role, by_key.app) == (str(other), "viewer", "api")
        changed, notice = await found.keep_zone(me, "Asia/Kolkata")
        assert (changed.zone, notice) == ("Asia/Kolkata", "")
        again = await found.me(request(cookie))
        assert again is not None and again.zone == "Asia/Kolkata"
        assert by_key.zone == "UTC"


async def test_a_session_that_the_console_must_vouch_for_anew_is_no_guest(office: OwnerOffice) -> None:
    who = await office.person("member")
    stale, shut = await session(office, who, renew_in=-1), await session(office, await office.person("member"))
    async with door(office) as found:
        with pytest.raises(Unauthorized) as error:
            await found.me(request(stale))
        assert error.value.code == "renew"
        await office.person(None, who)
        assert await found.me(request(stale)) is None, "shut out"
        assert await found.me(request(shut)) is not None


async def test_what_is_open_ends_with_the_key_and_with_the_role(office: OwnerOffice) -> None:
    who, access_id = await office.person("member"), uuid4()
    key, other = await office.key_of(who, access_id=access_id), await office.key_of(who)
    async with door(office) as found, found.staying(request(bearer(key))) as one, found.staying(request(bearer(other))) as two:  # fmt: skip
        assert one is not None and two is not None and not one.over.is_set()
        await office.tell_access(office.said_of(key, who, access_id=access_id, revoked=True, version=2))
        async with asyncio.timeout(1.0):
            await one.over.wait()
        assert not two.over.is_set()
        await office.person("viewer", who)
        async with asyncio.timeout(1.0):
            await two.over.wait()
    async with door(office) as found, found.staying(request()) as nobody:
        assert nobody is None


async def test_another_instance_works_by_a_new_setting_within_a_second(office: OwnerOffice) -> None:
    """Without any notice: that one may be lost."""
    person = Owner(kind="user", id=str(uuid4()))
    other = AgentSettings(office.db, office.keys, Notices(office.db, several=False), Health("agent"))
    heard = asyncio.Event()
    other.listeners.append(heard.set)
    await other.start()
    heard.clear()
    await office.decide(office.setting("cap", str(person), "0", 0))
    async with asyncio.timeout(1.0):
        while other.cap_of(person) != Decimal(0):
            await heard.wait()
            heard.clear()
    await other.stop()


async def test_what_waited_is_answered_for_who_its_sender_is_by_then(office: OwnerOffice) -> None:
    who, still, sent = await office.person("admin"), StillThere(office.db), now()
    me = Me(Owner(kind="user", id=str(who)), "Ada", "admin")
    assert await still(me, sent) == me
    await office.person("viewer", who)
    assert (await still(me, sent)).role == "viewer"
    assert await still(me, now()) == me, "they came in with that role since"
    await office.person("owner", who)
    assert await still(me, sent) == me, "nobody does more than when they sent it"
    await office.person(None, who)
    with pytest.raises(Refused, match="may not use the agent"):
        await still(me, now())
    for other in (
        replace(me, owner=Owner(kind="user", id=str(uuid4()))),
        Me(Owner(kind="guest", id="g"), "G", "guest"),
    ):
        assert await still(other, sent) == other
