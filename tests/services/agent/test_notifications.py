"""What people are told outside a conversation: kept until it is read, once in every open page, and nobody else's."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest

from schemas.outward import Owner
from services.agent.notifications import store
from services.agent.notifications.domain import KEPT_UNREAD, MOST_AT_ONCE, Notification
from services.agent.notifications.kept import Notifications, Watch
from services.agent.notifications.telling import link_of
from services.agent.owners.domain import Me
from services.agent.tables import app
from shared.clock import now
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.errors import NotFound
from shared.ids import new_id
from shared.testing.servers import Servers

PATIENCE = 60.0


@pytest.fixture
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=3)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


@pytest.fixture
def told(db: Database) -> Notifications:
    return Notifications(db, Notices(db, several=False))


def somebody() -> Me:
    return Me(Owner(kind="user", id=str(uuid4())), "Ada", "member")


async def titles(told: Notifications, watch: Watch) -> list[str]:
    news = await told.news(watch)
    return [] if news is None else [each.title for each in news.fresh]


async def test_every_open_page_is_told_once(told: Notifications) -> None:
    me = somebody()
    with told.open(me) as one, told.open(me) as two, told.open(somebody()) as theirs:
        for page in (one, two, theirs):
            assert await titles(told, page) == []
            page.woken.clear()
        await told.add(me.owner, "Water", "the plants")
        assert one.woken.is_set() and two.woken.is_set() and not theirs.woken.is_set()
        assert await titles(told, one) == ["Water"] and await titles(told, two) == ["Water"]
        assert await told.news(one) is None and await told.news(theirs) is None


async def test_a_page_that_opens_later_shows_what_none_has_shown(told: Notifications) -> None:
    me = somebody()
    await told.add(me.owner, "Shown", "")
    await told.add(me.owner, "New", "")
    shown = next(each for each in await told.list(me) if each.title == "Shown")
    await told.shown(me, [shown.notification_id])
    with told.open(me) as page:
        news = await told.news(page)
        assert news is not None and [each.title for each in news.fresh] == ["New"] and len(news.unread) == 2
        await told.shown(me, [each.notification_id for each in news.fresh])
    with told.open(me) as after:
        assert await titles(told, after) == [], "a reload shows nothing twice"


async def test_what_was_read_elsewhere_goes(told: Notifications) -> None:
    me, other = somebody(), somebody()
    await told.add(me.owner, "Water", "")
    [only] = await told.list(me)
    with told.open(me) as page:
        await told.news(page)
        with pytest.raises(NotFound):
            await told.read(other, only.notification_id)
        assert await told.news(page) is None
        await told.read(me, only.notification_id)
        news = await told.news(page)
        assert news is not None and not news.unread and not news.fresh
    assert [each.read_at is not None for each in await told.list(me)] == [True]
    with pytest.raises(NotFound):
        await told.read(me, uuid4())


async def test_there_is_room_for_so_many_and_the_rest_is_counted(told: Notifications, db: Database) -> None:
    me = somebody()

    async def put(number: int) -> None:
        at = now()
        async with db.owned(me.owner) as tx:
            for each in range(number):
                await store.add(tx, me.owner, Notification(new_id(), str(each), "", at, at))

    await put(KEPT_UNREAD)
    oldest = (await told.list(me, KEPT_UNREAD))[-1]
    await told.read(me, oldest.notification_id)
    await put(3)
    assert await told.unread(me) == KEPT_UNREAD and await told.left_out(me) == 2
    assert all(each.notification_id != oldest.notification_id for each in await told.list(me, KEPT_UNREAD))
    with told.open(me) as page:
        news = await told.news(page)
        assert news is not None and len(news.fresh) == MOST_AT_ONCE and news.left_out == 2
    await told.read_all(me)
    assert await told.unread(me) == await told.left_out(me) == 0


async def test_what_comes_every_minute_keeps_nothing_else_out(told: Notifications, db: Database) -> None:
    me, busy, often, at = somebody(), new_id(), new_id(), now()

    async def put(title: str, task: UUID) -> None:
        async with db.owned(me.owner) as tx:
            await store.add(tx, me.owner, Notification(new_id(), title, "", at, at, task))

    await told.add(me.owner, "of no task", "x")
    for each in range(KEPT_UNREAD - 11):
        await put(f"minute {each}", busy)
    for each in range(10):
        await put(f"often {each}", often)
    await put("call the doctor", new_id())
    found = [each.title for each in await told.list(me, KEPT_UNREAD)]
    assert len(found) == KEPT_UNREAD and found[0] == "call the doctor" and found[-1] == "of no task"
    assert "minute 0" not in found and "minute 1" in found and "often 0" in found and await told.left_out(me) == 1


async def test_text_is_storable_and_within_bounds(told: Notifications) -> None:
    me = somebody()
    await told.add(me.owner, "a\x00b\nc" + "x" * 300, "\ud800" + "ü" * 5000)
    [only] = await told.list(me)
    assert only.title.startswith("a\ufffdb c") and len(only.title) == 200
    assert only.text.startswith("\ufffdü") and len(only.text) == 4000


async def test_nothing_of_a_guest_is_kept(told: Notifications, db: Database) -> None:
    guest, at = Me(Owner(kind="guest", id=uuid4().hex), "Guest", "guest"), now()
    with told.open(guest) as page, told.open(Me(Owner(kind="guest", id=uuid4().hex), "Guest", "guest")) as theirs:
        told.push(guest, Notification(new_id(), "Tea", "", at, at))
        assert await titles(told, page) == ["Tea"] and await told.news(page) is None
        assert await told.news(theirs) is None
    assert await told.list(guest) == () and await told.unread(guest) == 0
    with pytest.raises(NotFound):
        await told.read(guest, uuid4())
    async with db.owned(guest.owner) as tx:
        assert await store.newest(tx, guest.owner, 9) == []


async def test_other_instances_are_told(db: Database) -> None:
    here, there = Notices(db, several=True), Notices(db, several=True)
    mine, theirs, me = Notifications(db, here), Notifications(db, there), somebody()
    await here.start()
    await there.start()
    try:
        with theirs.open(me) as page:
            await theirs.news(page)
            async with asyncio.timeout(PATIENCE):
                while (news := await theirs.news(page)) is None or not news.fresh:
                    page.woken.clear()
                    await mine.add(me.owner, "Water", "")
                    await page.woken.wait()
            assert news.fresh[0].title == "Water"
    finally:
        await here.stop()
        await there.stop()


@pytest.mark.parametrize("link", ["https://x.example", "//x.example", "/\\x.example", "javascript:alert(1)", "tasks"])
def test_a_link_leads_into_the_workspace_or_nowhere(link: str) -> None:
    at, task = now(), new_id()
    assert link_of(Notification(new_id(), "", "", at, at, link=link)) == ""
    assert link_of(Notification(new_id(), "", "", at, at, task, link)) == f"/tasks/{task}"
    assert link_of(Notification(new_id(), "", "", at, at, task, "/files")) == "/files"
