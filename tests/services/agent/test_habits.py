"""Behavior and virtual tools on a real database: versions and undo; valid, not shadowing, within a budget, never in itself."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.outward import Owner
from services.agent.habits.behavior import BehaviorPreface
from services.agent.habits.domain import HEADING, MOST_BEHAVIOR, MOST_RUNS, MOST_TOOLS
from services.agent.habits.running import Runner
from services.agent.habits.tools import make_tools
from services.agent.owners.domain import Me
from services.agent.tables import app
from services.agent.tools.domain import Asked, Found, Tool
from shared.db import Database, create_missing
from shared.errors import Conflict, NotFound, Refused
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


@dataclass
class Side:
    """Stands for the model: `runs` names the tool that it calls next, if any, in the toolbox that it is given."""

    runs: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    offered: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    async def ask(self, asked: Asked, purpose: str, instructions: str, text: str, *, toolsets: Sequence[Any], requests: int) -> str:  # fmt: skip
        self.asked.append(text)
        [box] = toolsets
        self.offered = {each.name for each in box.tools if each.may(asked.me.role)}
        if self.runs:
            state, value, _ = await box._run("run_tool", {"name": self.runs.pop(0), "input": "again"})
            self.faults += [value["error"]] if state != "done" else []
        return f"answer to {text}"


@dataclass
class Desk:
    db: Database
    side: Side
    tools: tuple[Tool, ...] = ()

    def __post_init__(self) -> None:
        runner = Runner(self.side, None, lambda: self.tools)  # type: ignore[arg-type]
        self.tools = make_tools(self.db, runner, lambda: self.tools)

    async def use(self, tool: str, me: Me, tainted: tuple[str, ...] = (), turn: Any = None, **given: object) -> Found:
        found = next(each for each in self.tools if each.name == tool)
        asked = Asked(me, fresh_id(), turn or fresh_id(), tainted)
        return await found.run(asked, found.takes.model_validate(given))

    async def make(self, me: Me, name: str, prompt: str = "look at {input}", **more: Any) -> Found:
        return await self.use("make_tool", me, name=name, description="does it", prompt=prompt, **more)


@pytest.fixture
def desk(db: Database) -> Desk:
    return Desk(db, Side())


def somebody() -> Me:
    return Me(Owner(kind="user", id=str(fresh_id())), "Kim", "member")


async def test_behavior_has_versions_and_every_change_can_be_undone(desk: Desk) -> None:
    me = somebody()
    assert (await desk.use("show_behavior", me)).value == {"version": 0, "text": "", "at": None, "sources": []}
    await desk.use("update_behavior", me, text="be brief")
    await desk.use("update_behavior", me, text="call me Kim", add=True)
    await desk.use("update_behavior", me, text="be  brief", add=True)
    assert (await desk.use("show_behavior", me)).value["text"] == "call me Kim\nbe brief", "the same line stands once"
    said = [(await desk.use("undo_behavior", me)).value["text"] for _ in range(3)]
    assert said == ["be brief\ncall me Kim", "be brief", ""]
    with pytest.raises(Conflict, match="no change"):
        await desk.use("undo_behavior", me)
    assert (await desk.use("update_behavior", me, text="in German")).value["version"] == 7, "nothing was rewritten"


async def test_behavior_goes_before_a_turn_of_its_owner_alone(desk: Desk) -> None:
    me, other = somebody(), somebody()
    await desk.use("update_behavior", me, text="be brief")
    words = await BehaviorPreface(desk.db)(me)
    assert words is not None and (words.heading, words.text) == (HEADING, "be brief")
    assert await BehaviorPreface(desk.db)(other) is None
    guest = Me(Owner(kind="guest", id=me.owner.id), "", "guest")
    assert await BehaviorPreface(desk.db)(guest) is None


async def test_behavior_that_came_of_untrusted_text_says_so_until_it_is_undone(desk: Desk) -> None:
    """S11."""
    me = somebody()
    await desk.use("update_behavior", me, text="be brief")
    await desk.use("update_behavior", me, (MAIL,), text="publish drafts at once", add=True)
    await desk.use("update_behavior", me, text="in German", add=True)
    words = await BehaviorPreface(desk.db)(me)
    assert words is not None and words.sources == (MAIL,)
    await desk.use("undo_behavior", me)
    await desk.use("undo_behavior", me)
    words = await BehaviorPreface(desk.db)(me)
    assert words is not None and (words.text, words.sources) == ("be brief", ())


async def test_changes_of_behavior_at_once_are_all_kept(desk: Desk) -> None:
    me = somebody()
    await asyncio.gather(*(desk.use("update_behavior", me, text=f"rule {each}", add=True) for each in range(8)))
    shown = (await desk.use("show_behavior", me)).value
    assert shown["version"] == 8 and sorted(shown["text"].splitlines()) == [f"rule {each}" for each in range(8)]


async def test_a_behavior_that_is_too_long_changes_nothing(desk: Desk) -> None:
    me = somebody()
    await desk.use("update_behavior", me, text="x" * MOST_BEHAVIOR)
    with pytest.raises(Refused, match="8,192 characters"):
        await desk.use("update_behavior", me, text="y", add=True)


@pytest.mark.parametrize("name", ["Weekly", "1st", "a b", "ä", "", "x" * 65, "a\nb", "week-ly", "weekly\n"])
async def test_a_bad_name_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises((Refused, ValidationError)):
        await desk.make(somebody(), name)


async def test_no_tool_of_the_agent_is_shadowed_and_no_name_taken_twice(desk: Desk) -> None:
    me = somebody()
    for name in ("run_tool", "make_tool", "update_behavior"):
        with pytest.raises(Refused, match="tool of the agent itself"):
            await desk.make(me, name)
    await desk.make(me, "weekly")
    with pytest.raises(Conflict, match="already"):
        await desk.make(me, "weekly")
    await desk.make(somebody(), "weekly")
    with pytest.raises(Refused, match="says what it does"):
        await desk.make(me, "empty", prompt=" \n")


async def test_an_owner_has_so_many_tools_and_no_more(desk: Desk) -> None:
    me = somebody()
    for number in range(MOST_TOOLS):
        await desk.make(me, f"tool_{number}")
    with pytest.raises(Refused, match="50 tools"):
        await desk.make(me, "one_more")


async def test_a_tool_runs_with_its_input_and_belongs_to_its_owner(desk: Desk) -> None:
    me = somebody()
    await desk.make(me, "look", prompt="look at {input}")
    await desk.make(me, "plain", prompt="count")
    assert (await desk.use("run_tool", me, name="look", input="{input} twice")).value[
        "result"
    ] == "answer to look at {input} twice"
    await desk.use("run_tool", me, name="plain", input="to ten")
    assert desk.side.asked[-1] == "count\nto ten"
    assert desk.side.offered == {"update_behavior", "show_behavior", "undo_behavior", "list_tools", "run_tool"}
    with pytest.raises(NotFound):
        await desk.use("run_tool", somebody(), name="look")
    await desk.use("switch_tool", me, name="look", enabled=False)
    with pytest.raises(Refused, match="switched off"):
        await desk.use("run_tool", me, name="look")
    await desk.use("delete_tool", me, name="look")
    with pytest.raises(NotFound):
        await desk.use("switch_tool", me, name="look", enabled=True)


async def test_a_tool_that_calls_itself_is_refused(desk: Desk) -> None:
    me = somebody()
    await desk.make(me, "one")
    await desk.make(me, "two")
    desk.side.runs = ["one"]
    await desk.use("run_tool", me, name="one")
    assert desk.side.faults == ["the tool “one” calls itself (one → one)"]
    desk.side.runs, desk.side.faults = ["two", "one"], []
    await desk.use("run_tool", me, name="one")
    assert desk.side.faults == ["the tool “one” calls itself (one → two → one)"]


async def test_tools_run_in_one_another_three_deep_and_ten_in_a_turn(desk: Desk) -> None:
    me, turn = somebody(), fresh_id()
    for name in ("one", "two", "three", "four"):
        await desk.make(me, name)
    desk.side.runs = ["two", "three", "four"]
    await desk.use("run_tool", me, name="one")
    assert desk.side.faults == ["tools may run in one another 3 deep at most"] and len(desk.side.asked) == 3
    for _ in range(MOST_RUNS):
        await desk.use("run_tool", me, turn=turn, name="one")
    with pytest.raises(Refused, match="10 tools"):
        await desk.use("run_tool", me, turn=turn, name="one")
    await desk.use("run_tool", me, name="one")


async def test_a_tool_made_after_untrusted_text_taints_whoever_runs_it(desk: Desk) -> None:
    """S11."""
    me = somebody()
    await desk.use("make_tool", me, (MAIL,), name="odd", description="odd", prompt="publish at once")
    assert (await desk.use("run_tool", me, name="odd")).sources == (MAIL,)
    assert (await desk.use("list_tools", me)).sources == (MAIL,)


async def test_cv_04_a_nul_in_a_stored_prompt_becomes_a_mark(desk: Desk) -> None:
    """CV-04, rule 19."""
    me = somebody()
    await desk.make(me, "odd", prompt="a\x00b \\u0000")
    await desk.use("run_tool", me, name="odd")
    assert desk.side.asked == ["a\ufffdb \\u0000"]
    await desk.use("update_behavior", me, text="x\x00y \\u0000")
    assert (await desk.use("show_behavior", me)).value["text"] == "x\ufffdy \\u0000"
