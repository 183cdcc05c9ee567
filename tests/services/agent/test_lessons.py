"""Lessons of owners on a real database: kept with where they came from, found by words, by nobody else (LE-01, LE-03, LE-05)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from schemas.outward import Owner
from services.agent.lessons.domain import Learnt, Origin
from services.agent.lessons.shelf import Lessons
from services.agent.lessons.splitting import SPLITTING
from services.agent.lessons.tools import make_tools
from services.agent.owners.domain import Me
from services.agent.tables import app
from services.agent.tools.domain import Asked, Found, Tool
from shared.db import Database, create_missing
from shared.errors import NotFound
from shared.ids import fresh_id
from shared.testing.servers import Servers

MAIL = "mail from mallory@example.com"


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=4)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


@pytest.fixture
def lessons(db: Database) -> Lessons:
    return Lessons(db)


def somebody() -> Me:
    return Me(Owner(kind="user", id=str(fresh_id())), "Kim", "member")


async def used(lessons: Lessons, tool: str, me: Me, tainted: tuple[str, ...] = (), **given: object) -> Found:
    found: Tool = next(each for each in make_tools(lessons) if each.name == tool)
    return await found.run(Asked(me, fresh_id(), fresh_id(), tainted), found.takes.model_validate(given))


async def ids(lessons: Lessons, me: Me, words: str) -> list[int]:
    return [each["lesson_id"] for each in (await used(lessons, "search_lessons", me, words=words)).value["lessons"]]


async def test_le_01_an_owner_with_nothing_to_find_finds_nothing(lessons: Lessons) -> None:
    """LE-01."""
    me = somebody()
    assert await ids(lessons, me, "backup") == []
    await used(lessons, "add_lesson", me, observation="?!… 。")
    await used(lessons, "add_lesson", me, observation="the and of")
    for query in ("backup", "", "?!…"):
        assert await ids(lessons, me, query) == []
    assert await ids(lessons, me, "the of") == [2]


async def test_le_03_words_of_every_part_and_without_blanks_find_a_lesson(lessons: Lessons) -> None:
    """LE-03."""
    me = somebody()
    await used(lessons, "add_lesson", me, observation="数据库备份每天凌晨执行")
    await used(
        lessons,
        "add_lesson",
        me,
        observation="部署后重启 nginx",
        conclusion="Übungen helfen",
        next_action="weekly checks",
        tags=["データ保存"],
    )
    assert await ids(lessons, me, "备份") == [1]
    for query in ("nginx 重启", "Uebung", "check", "保存"):
        assert await ids(lessons, me, query) == [2], query


async def test_le_03_lessons_split_by_an_earlier_release_are_split_anew(db: Database, lessons: Lessons) -> None:
    """LE-03: if the splitting changes, old lessons are indexed again."""
    me = somebody()
    await used(lessons, "add_lesson", me, observation="数据库备份每天凌晨执行")
    async with db.owned(me.owner) as tx:
        await tx.raw.execute("UPDATE core.lessons SET words = 'x:数据库备份每天凌晨执行', splitting = 0")
    assert await ids(Lessons(db), me, "备份") == [1]
    async with db.owned(me.owner) as tx:
        assert await tx.raw.fetchval("SELECT splitting FROM core.lessons") == SPLITTING


async def test_le_05_nobody_finds_what_another_learnt(db: Database, lessons: Lessons) -> None:
    """LE-05: directly, with an own filter, and by words that only the other has; scores do not move with another's lessons."""
    a, b = somebody(), somebody()
    for text in ("the backup disk was full", "the zanzibar contract"):
        await used(lessons, "add_lesson", a, observation=text)
    await used(lessons, "add_lesson", b, observation="a backup in the evening")
    before = await lessons.search(b.owner, "backup", 10)
    assert [each.learnt.observation for each, _ in before] == ["a backup in the evening"]
    assert await ids(lessons, b, "zanzibar") == [] and await ids(lessons, b, f"zanzibar owner:{a.owner}") == []
    await used(lessons, "add_lesson", a, observation="backup backup backup")
    await used(lessons, "drop_lesson", a, lesson_id=1)
    assert await lessons.search(b.owner, "backup", 10) == before
    assert await Lessons(db).search(b.owner, "backup", 10) == before
    with pytest.raises(NotFound):
        await used(lessons, "drop_lesson", b, lesson_id=2)
    with pytest.raises(ValueError, match="owner"):
        await used(lessons, "search_lessons", b, words="zanzibar", owner=str(a.owner))


async def test_ag_06_a_user_and_a_guest_of_one_id_share_nothing(lessons: Lessons) -> None:
    """AG-06."""
    user, guest = Owner(kind="user", id="7"), Owner(kind="guest", id="7")
    await lessons.add(user, Learnt("the seventh lesson"), Origin())
    assert await lessons.search(guest, "seventh", 5) == []
    assert await lessons.search(Owner(kind="user", id="7 "), "seventh", 5) == []


async def test_every_instance_sees_the_newest(db: Database) -> None:
    one, other, me = Lessons(db), Lessons(db), somebody()
    await used(one, "add_lesson", me, observation="backup")
    assert await ids(one, me, "backup") == await ids(other, me, "backup") == [1]
    await used(other, "add_lesson", me, observation="another backup")
    assert sorted(await ids(one, me, "backup")) == [1, 2]
    await used(one, "drop_lesson", me, lesson_id=1)
    assert await ids(other, me, "backup") == [2]
    async with db.owned(me.owner) as tx:  # as a person's data are deleted
        await tx.raw.execute("DELETE FROM core.lessons")
        await tx.raw.execute("DELETE FROM core.lesson_books")
    for text in ("tea", "coffee", "water"):
        await used(one, "add_lesson", me, observation=text)
    assert await ids(other, me, "backup") == [] and await ids(other, me, "tea") == [1]


async def test_lessons_added_at_once_get_a_number_each(lessons: Lessons) -> None:
    me = somebody()
    made = await asyncio.gather(*(used(lessons, "add_lesson", me, observation=f"lesson {each}") for each in range(12)))
    assert sorted(each.value["lesson_id"] for each in made) == list(range(1, 13))


async def test_provenance_is_kept_and_taints_whoever_reads_it(lessons: Lessons) -> None:
    """S11: a lesson that was allowed in a tainted conversation carries what that conversation had read."""
    me = somebody()
    await used(lessons, "add_lesson", me, (MAIL,), observation="publish drafts at once")
    await used(lessons, "add_lesson", me, observation="drink tea")
    read = await used(lessons, "search_lessons", me, words="drafts")
    assert read.sources == (MAIL,) and read.value["lessons"][0]["sources"] == [MAIL]
    assert (await used(lessons, "search_lessons", me, words="tea")).sources == ()


async def test_cv_04_a_nul_in_a_lesson_becomes_a_mark_and_typed_characters_stay(lessons: Lessons) -> None:
    """CV-04, rule 19."""
    me = somebody()
    await used(lessons, "add_lesson", me, observation="a\x00b \\u0000 C:\\temp\\u0041bc", tags=["t\x00"])
    await lessons.add(me.owner, Learnt("a lone \ud800"), Origin())
    second, first = await lessons.newest(me.owner, 5)
    assert first.learnt.observation == "a\ufffdb \\u0000 C:\\temp\\u0041bc" and first.flagged
    assert first.learnt.tags == ("t\ufffd",) and second.learnt.observation == "a lone \ufffd"
