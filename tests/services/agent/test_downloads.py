"""Downloads without nginx: who may fetch what and until when, what goes with whom, and what is sent when the file changes meanwhile (rules 14, 22, 24)."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

import pytest

from infra.local.keys import link_key
from schemas.outward import Owner
from schemas.statements import Standing
from services.agent.downloads import store
from services.agent.downloads.desk import Downloads
from services.agent.downloads.domain import MOST, Link, Opened, Registered
from services.agent.downloads.holding import DownloadsHolding
from services.agent.downloads.links import LinkKeys
from services.agent.downloads.reading import OwnFiles
from services.agent.downloads.serving import Sent, close
from services.agent.downloads.spool import Spool
from services.agent.downloads.tools import make_tools
from services.agent.downloads.upkeep import DownloadUpkeep
from services.agent.memory import store as marks
from services.agent.memory.domain import folder_of
from services.agent.owners.domain import Me
from services.agent.owners.still import StillThere
from services.agent.tables import app
from services.agent.tools.domain import Asked
from shared.clock import now
from shared.db import Database, create_missing
from shared.errors import Forbidden, NotFound, Refused, TooMany
from shared.identity.store import keep_standing
from shared.ids import fresh_id
from shared.testing.servers import Servers
from tests.factories.identity import Console

HERE = "https://workspace.test"


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=3)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


@dataclass
class World:
    db: Database
    root: Path
    spool: Spool
    downloads: Downloads

    def put(self, me: Me, name: str, content: bytes = b"hello") -> Path:
        path = self.root / "workspace" / folder_of(me.owner) / name
        for folder in reversed([each for each in path.parents if (self.root / "workspace") in each.parents]):
            folder.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)
        return path

    def copies(self) -> list[str]:
        return sorted(each.name for each in (self.root / "spool").iterdir())


@pytest.fixture
def world(db: Database, tmp_path: Path) -> World:
    for name in ("workspace", "spool"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "links.key").write_text(link_key()[0])
    spool, files = Spool(tmp_path / "spool"), OwnFiles(tmp_path / "workspace", db)
    keys = LinkKeys(tmp_path / "links.key")
    return World(db, tmp_path, spool, Downloads(db, files, keys, StillThere(db), HERE, spool))


def somebody() -> Me:
    return Me(Owner(kind="user", id=str(fresh_id())), "Kim", "member")


async def fetched(world: World, me: Me, link: Link) -> bytes:
    parts = urlsplit(link.url)
    path = unquote(parts.path)
    if link.by_mail:
        found, opened = await world.downloads.mailed(path.removeprefix("/d/"), dict(parse_qsl(parts.query)))
    else:
        found, opened = await world.downloads.own(me, path.removeprefix("/downloads/"))
    return (await sent(found, opened))[1]


async def sent(found: Registered, opened: Opened, meanwhile: Any = None, **headers: str) -> tuple[int, bytes]:
    """Status and body; `meanwhile` is called after the head."""
    told: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        told.append(message)
        if meanwhile is not None and len(told) == 1:
            meanwhile()

    async def receive() -> Any:
        await asyncio.Event().wait()

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": raw}
    await Sent(found, opened)(scope, receive, send)
    return told[0]["status"], b"".join(each.get("body", b"") for each in told[1:])


async def test_a_file_is_fetched_by_its_owner_and_by_nobody_else(world: World) -> None:
    me, other = somebody(), somebody()
    world.put(me, "drafts/plän.txt", b"plan")
    link = await world.downloads.register(me, "drafts/plän.txt")
    assert link.url.startswith(f"{HERE}/downloads/{link.download_id}/") and link.name == "plän.txt"
    assert await fetched(world, me, link) == b"plan"
    for who in (other, Me(Owner(kind="guest", id=me.owner.id), "Guest", "guest")):
        with pytest.raises(NotFound):
            await fetched(world, who, link)
    with pytest.raises(NotFound):
        await world.downloads.revoke(other, link.download_id)
    assert await fetched(world, me, link) == b"plan"
    assert list(await world.downloads.list(other)) == []


async def test_fi_01_what_may_not_be_registered_is_missing_in_the_same_words(world: World) -> None:
    me = somebody()
    home = world.put(me, "a.txt").parent
    world.put(me, ".memory.md", b"secret")
    (home.parent / f"{home.name}-old").mkdir()
    (home.parent / f"{home.name}-old" / "x").write_bytes(b"secret")
    (home / "out.txt").symlink_to("/etc/passwd")
    os.link(home / "a.txt", home / "hard.txt")
    os.mkfifo(home / "pipe")
    said = set()
    for name in (f"../{home.name}-old/x", ".memory.md", "a\x00b", "..\\x", "/etc/passwd", "", ".", "out.txt", "hard.txt", "pipe", "none", "a.txt/x", "x" * 300):  # fmt: skip
        with pytest.raises(NotFound) as error:
            await world.downloads.register(me, name)
        said.add(error.value.message)
    assert len(said) == 1
    assert list(await world.downloads.list(me)) == []


async def test_a_link_ends_when_its_time_is_over_or_it_is_taken_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    me = somebody()
    world.put(me, "a.txt")
    short, long = [await world.downloads.register(me, "a.txt", life=timedelta(minutes=each)) for each in (1, 60)]
    later = now() + timedelta(minutes=2)
    monkeypatch.setattr("services.agent.downloads.desk.now", lambda: later)
    with pytest.raises(NotFound):
        await fetched(world, me, short)
    assert [each.download_id for each in await world.downloads.list(me)] == [long.download_id]
    assert await fetched(world, me, long) == b"hello"
    await world.downloads.revoke(me, long.download_id)
    with pytest.raises(NotFound):
        await fetched(world, me, long)
    for wrong in (timedelta(seconds=1), timedelta(days=31), timedelta(days=-1)):
        with pytest.raises(Refused):
            await world.downloads.register(me, "a.txt", life=wrong)


async def test_a_link_for_anybody_outlives_no_rotation_but_one_and_no_person(world: World) -> None:
    me = somebody()
    world.put(me, "a b?.txt")
    link = await world.downloads.register(me, "a b?.txt", by_mail=True)
    assert await fetched(world, me, link) == b"hello"
    key, first = world.root / "links.key", (world.root / "links.key").read_text()
    key.write_text(link_key()[0] + first)
    assert await fetched(world, me, link) == b"hello", "the key before the newest still opens"
    key.write_text(link_key()[0] + link_key()[0])
    with pytest.raises(NotFound):
        await fetched(world, me, link)
    key.write_text(first)
    assert await fetched(world, me, link) == b"hello"
    people = Console("agent")
    subject = UUID(me.owner.id)
    statement = Standing(key_id=people.key.key_id, subject=subject, role=None, sessions_from=now(), version=1, decided_at=now(), audience="agent")  # fmt: skip
    async with world.db.transaction() as tx:
        await keep_standing(tx, statement, people.key.sign(statement))
    with pytest.raises(NotFound):
        await fetched(world, me, link)


async def test_a_link_for_anybody_gives_away_what_was_there_and_nothing_later(world: World) -> None:
    """What a mail had the agent add to the file since, or put under its name, goes to nobody (S11)."""
    me = somebody()
    file = world.put(me, "a.txt")
    link, own = await world.downloads.register(me, "a.txt", by_mail=True), await world.downloads.register(me, "a.txt")
    assert await fetched(world, me, link) == b"hello"
    with file.open("ab") as more:
        more.write(b" and the salaries")
    with pytest.raises(NotFound):
        await fetched(world, me, link)
    assert await fetched(world, me, own) == b"hello and the salaries", "its owner may have all of it"
    tool = next(each for each in make_tools(world.downloads) if each.name == "offer_download_to_anybody")
    asked = Asked(me, fresh_id(), fresh_id(), ("a mail",))
    card = await tool.exact(asked, tool.takes.model_validate({"name": "a.txt"}))
    done = await tool.run(asked, card)
    assert done.value["url"] in done.said and done.value["url"] not in done.shown, "told to the conversation alone"
    before = len(await world.downloads.list(me))
    world.put(me, "a.txt", b"something else")
    with pytest.raises(Refused, match="something else by now"):
        await tool.run(asked, card)
    assert len(await world.downloads.list(me)) == before
    listing = next(each for each in make_tools(world.downloads) if each.name == "list_downloads")
    assert (await listing.run(asked, listing.takes.model_validate({}))).sources == ()
    async with world.db.owned(me.owner) as tx:
        await marks.mark(tx, me.owner, "a.txt", "", ["mail from eve"])
    assert (await listing.run(asked, listing.takes.model_validate({}))).sources == ("name of the file a.txt",)


async def test_guests_have_no_downloads_and_nobody_has_too_many(world: World) -> None:
    guest = Me(Owner(kind="guest", id="g"), "Guest", "guest")
    with pytest.raises(Forbidden):
        await world.downloads.register(guest, "a.txt")
    assert list(await world.downloads.list(guest)) == []
    me = somebody()
    world.put(me, "a.txt")
    async with world.db.owned(me.owner) as tx:
        for _ in range(MOST):
            at = now()
            made = Registered(me.owner, fresh_id(), "a.txt", "a.txt", at, at + timedelta(days=1), by_mail=False)
            await store.add(tx, made, None)
    with pytest.raises(TooMany):
        await world.downloads.register(me, "a.txt")


async def test_a_file_that_goes_or_changes_while_it_is_fetched(world: World) -> None:
    me = somebody()
    content = os.urandom(700_000)
    file = world.put(me, "big.bin", content)
    link = await world.downloads.register(me, "big.bin")
    rest = unquote(urlsplit(link.url).path).removeprefix("/downloads/")
    assert await sent(*await world.downloads.own(me, rest), meanwhile=file.unlink) == (200, content)
    with pytest.raises(NotFound):
        await world.downloads.own(me, rest)
    world.put(me, "big.bin", content)
    status, body = await sent(*await world.downloads.own(me, rest), meanwhile=lambda: os.truncate(file, 300_000))
    assert status == 200 and body == content[:300_000], "what is missing is seen by its length"


async def test_what_is_kept_of_a_person_goes_with_them(world: World) -> None:
    me, other = somebody(), somebody()
    links = {}
    for who in (me, other):
        world.put(who, "a.txt")
        links[who.owner.id] = await world.downloads.register(who, "a.txt", by_mail=True)
        opened = await OwnFiles(world.root / "workspace", world.db).open(who.owner, "a.txt")
        assert world.spool.put(links[who.owner.id].download_id, opened)
        close(opened)
    holding = DownloadsHolding(world.db, world.spool)
    assert await holding.forget(me.owner) == 1 and await holding.forget(me.owner) == 0
    assert world.copies() == [str(links[other.owner.id].download_id)]
    with pytest.raises(NotFound):
        await fetched(world, me, links[me.owner.id])
    assert await fetched(world, other, links[other.owner.id]) == b"hello"


async def test_what_has_expired_is_cleared_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    me = somebody()
    world.put(me, "a.txt")
    short, long = [await world.downloads.register(me, "a.txt", life=timedelta(minutes=each)) for each in (1, 600)]
    for each in (short, long):
        opened = await OwnFiles(world.root / "workspace", world.db).open(me.owner, "a.txt")
        assert world.spool.put(each.download_id, opened)
        close(opened)
    (world.root / "spool" / str(fresh_id())).write_bytes(b"of nobody")
    (world.root / "spool" / ".new-left").write_bytes(b"by a crash")
    monkeypatch.setattr("services.agent.downloads.upkeep.now", lambda: now() + timedelta(minutes=2))
    await DownloadUpkeep(world.db, world.spool).once()
    assert world.copies() == [str(long.download_id)]
    async with world.db.owned(me.owner) as tx:
        assert [*await store.all_of(tx, me.owner)] == [long.download_id]


async def test_a_tool_gives_a_link_and_one_for_anybody_waits_where_untrusted_text_was_read(world: World) -> None:
    me = somebody()
    world.put(me, "a.txt")
    tools = {each.name: each for each in make_tools(world.downloads)}
    assert not tools["offer_download"].writes and not any(each.may("guest") for each in tools.values())
    shared = tools["offer_download_to_anybody"]
    assert shared.writes == "send" and shared.recipients(None) == ("anybody who has the link",)
    asked = Asked(me, fresh_id(), fresh_id())

    async def use(tool: str, /, **given: Any) -> Any:
        return (await tools[tool].run(asked, tools[tool].takes.model_validate(given))).value

    assert (await use("offer_download", name="a.txt"))["url"].startswith(f"{HERE}/downloads/")
    assert (await use("offer_download_to_anybody", name="a.txt", days=2))["url"].startswith(f"{HERE}/d/")
    assert sorted(each["for"] for each in (await use("list_downloads"))["links"]) == ["anybody who has the link", "the user, signed in"]  # fmt: skip
    assert (await use("revoke_download", name="A.TXT"))["revoked"] == 2
    assert (await use("list_downloads"))["links"] == []
