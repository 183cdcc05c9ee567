"""Proposals in somebody's name: they wait for a person, and what became of them is told to them and to nobody else."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from schemas.bridge.v1 import ProposalMoved
from schemas.outward import Owner
from services.agent.conversations.kept import KeptConversations
from services.agent.owners.domain import Me
from services.agent.proposals.holding import ProposalsHolding
from services.agent.proposals.tools import make_tools
from services.agent.proposals.usecases.keep_move import keep_move
from services.agent.tables import app
from services.agent.tools.domain import Asked, Found
from shared.clock import now
from shared.db import Database, create_missing
from shared.errors import Refused
from shared.ids import fresh_id, item_id
from shared.outbox.stage import Stamp
from shared.testing.servers import Servers

CONSOLE = "http://localhost:8420"


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), Stamp("agent"), pool_size=3)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await found.stop()


class Desk:
    """A person with a conversation and the tools of proposals."""

    def __init__(self, db: Database, name: str = "Kim") -> None:
        self.db, self.kept, self.on = db, KeptConversations(db), True
        self.me = Me(Owner(kind="user", id=str(fresh_id())), name, "owner")
        self.tools = {tool.name: tool for tool in make_tools(db, lambda: self.on, CONSOLE)}
        self.chat = UUID(int=0)

    async def use(self, tool: str, **given: Any) -> Found:
        if not self.chat.int:
            self.chat = (await self.kept.open(self.me, None)).conversation_id
        found = self.tools[tool]
        return await found.run(Asked(self.me, self.chat, fresh_id()), found.takes.model_validate(given))

    async def propose(self, path: str) -> dict[str, Any]:
        """What was staged for the lock."""
        await self.use("propose_publication", kind="doc", path=path, title="Prices", body="# Prices\n\nFrom 3.")
        async with self.db.reading() as tx:
            body = await tx.raw.fetchval("SELECT body FROM app.outbox ORDER BY position DESC LIMIT 1")
        found: dict[str, Any] = json.loads(body)["data"]
        return found

    async def hear(self, staged: dict[str, Any], state: Any, version: int, reason: str = "") -> None:
        what = {name: staged[name] for name in ("item_id", "submission_id", "kind", "lang", "path")}
        moved = ProposalMoved(**what, state=state, revision=1, reason=reason, at=now(), version=version)
        async with self.db.transaction() as tx:
            await keep_move(tx, moved)

    async def notes(self) -> list[str]:
        return [each.text for each in await self.kept.messages(self.me, self.chat) if each.part == "note"]


async def test_a_proposal_is_handed_in_for_the_person_and_waits(db: Database) -> None:
    desk, path = Desk(db), f"prices-{fresh_id()}"
    staged = await desk.propose(path)
    assert staged["submitted_by"] == {"id": desk.me.owner.id, "name": "Kim", "via": "agent"}
    assert staged["item_id"] == str(item_id("doc", "en", path)) and staged["audience"] == "public"
    [listed] = (await desk.use("list_proposals")).value["proposals"]
    assert (listed["state"], listed["link"]) == ("handed_in", f"{CONSOLE}/queue/{staged['item_id']}")
    await desk.hear(staged, "submitted", 1)
    assert await desk.notes() == [], "that it waits was said already"


async def test_what_became_of_it_is_told_in_its_conversation_once_and_in_order(db: Database) -> None:
    desk = Desk(db)
    staged = await desk.propose(f"prices-{fresh_id()}")
    for state, version, reason in (("submitted", 1, ""), ("changes_requested", 2, "name the currency"), ("published", 9, ""), ("approved", 8, ""), ("published", 9, "")):  # fmt: skip
        await desk.hear(staged, state, version, reason)
    place = f"doc/en/{staged['path']}"
    assert await desk.notes() == [
        f"Your proposal “Prices” ({place}) was sent back: changes are wanted. Reason: name the currency",
        f"Your proposal “Prices” ({place}) was approved and is public now.",
    ]
    await desk.hear(staged, "submitted", 10, "a mistake")
    assert "waits for a decision again" in (await desk.notes())[-1]


async def test_nobody_else_learns_of_it(db: Database) -> None:
    desk, other = Desk(db), Desk(db, "Lu")
    await other.propose(f"other-{fresh_id()}")
    staged = await desk.propose(f"prices-{fresh_id()}")
    await desk.hear(staged, "rejected", 2, "no")
    assert await other.notes() == []
    assert [each["state"] for each in (await other.use("list_proposals")).value["proposals"]] == ["handed_in"]
    await desk.hear(staged | {"submission_id": str(fresh_id())}, "published", 3)
    assert len(await desk.notes()) == 1, "a submission that is nobody's is told to nobody"


async def test_a_deleted_conversation_is_no_reason_to_park_the_outcome(db: Database) -> None:
    desk = Desk(db)
    staged = await desk.propose(f"prices-{fresh_id()}")
    await desk.kept.delete(desk.me, desk.chat)
    await desk.hear(staged, "published", 3)
    assert [each["state"] for each in (await desk.use("list_proposals")).value["proposals"]] == ["published"]


async def test_switched_off_nothing_is_handed_in(db: Database) -> None:
    desk = Desk(db)
    desk.on = False
    with pytest.raises(Refused, match="switched proposals off"):
        await desk.propose(f"prices-{fresh_id()}")
    assert (await desk.use("list_proposals")).value["proposals"] == []


async def test_what_no_item_can_be_is_refused_and_no_one_may_say_whose_it_is(db: Database) -> None:
    desk = Desk(db)
    for path in ("../x", "with space", "a//b"):
        with pytest.raises(Refused):
            await desk.use("propose_publication", kind="doc", path=path, title="T", body="x")
    takes = desk.tools["propose_publication"].takes
    with pytest.raises(ValueError, match="submitted_by"):
        takes.model_validate({"path": "x", "title": "T", "body": "x", "submitted_by": {"id": "mara"}})
    assert {role: desk.tools["propose_publication"].may(role) for role in ("owner", "admin", "moderator", "member", "viewer", "guest")} == {
        "owner": True, "admin": True, "moderator": True, "member": False, "viewer": False, "guest": False,
    }  # fmt: skip


async def test_deleted_with_their_owners_things_and_what_comes_later_is_nobodys(db: Database) -> None:
    desk = Desk(db)
    staged = await desk.propose(f"prices-{fresh_id()}")
    assert await ProposalsHolding(db).forget(desk.me.owner) == 1
    await desk.hear(staged, "published", 3)
    assert (await desk.use("list_proposals")).value["proposals"] == []


async def test_whoever_has_the_conversation_open_is_told_at_once(db: Database) -> None:
    desk, told = Desk(db), []
    staged = await desk.propose(f"prices-{fresh_id()}")
    what = {name: staged[name] for name in ("item_id", "submission_id", "kind", "lang", "path")}
    async with db.transaction() as tx:
        moved = ProposalMoved(**what, state="published", revision=1, at=now(), version=2)
        await keep_move(tx, moved, lambda *note: told.append(note))
        assert not told, "not before it is durable"
    [(owner, conversation, note, text)] = told
    [kept] = [each for each in await desk.kept.messages(desk.me, desk.chat) if each.part == "note"]
    assert (owner, conversation, note, text) == (desk.me.owner, desk.chat, kept.turn_id, kept.text)
