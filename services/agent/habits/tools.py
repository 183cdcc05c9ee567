"""What a model can do with behavior and virtual tools. The owner is whoever is signed in: no argument names one (rule 24)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import Field

from services.agent.habits import store
from services.agent.habits.domain import MOST_BEHAVIOR, MOST_PROMPT, Behavior, Origin, VirtualTool
from services.agent.habits.running import Runner
from services.agent.habits.usecases import change_behavior, delete_tool, make_tool, switch_tool, undo_behavior
from services.agent.habits.usecases.delete_tool import no_such
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool, Tools
from services.agent.tools.orders import orders
from shared.db import Database


class BehaviorArguments(Arguments):
    """`text` replaces the behavior, or with `add` becomes one more line of it."""

    text: str = Field(max_length=MOST_BEHAVIOR)
    add: bool = False


class NoArguments(Arguments):
    """None."""


class ToolArguments(Arguments):
    """`prompt` is what is asked when it runs; {input} in it stands for the input."""

    name: str = Field(min_length=1, max_length=64)
    description: str = Field(min_length=1, max_length=500)
    prompt: str = Field(min_length=1, max_length=MOST_PROMPT)
    input_hint: str = Field(default="", max_length=200)
    enabled: bool = True


class NameArguments(Arguments):
    name: str = Field(min_length=1, max_length=64)


class SwitchArguments(NameArguments):
    enabled: bool


class RunArguments(NameArguments):
    input: str = Field(default="", max_length=32 * 1024)


class HabitTools:
    def __init__(self, db: Database, runner: Runner, everything: Callable[[], Tools]) -> None:
        self._db, self._runner, self._everything = db, runner, everything

    async def change(self, asked: Asked, given: BehaviorArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            made = await change_behavior(tx, asked.me.owner, given.text, _origin(asked), add=given.add)
        return Found(_told(made), f"behavior, version {made.version}")

    async def show(self, asked: Asked, _: NoArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            found = await store.behavior(tx, asked.me.owner)
        return Found(_told(found), f"behavior, version {found.version}", found.sources)

    async def undo(self, asked: Asked, _: NoArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            made = await undo_behavior(tx, asked.me.owner, _origin(asked))
        return Found(_told(made), f"behavior, version {made.version}", made.sources)

    async def make(self, asked: Asked, given: ToolArguments) -> Found:
        taken = frozenset(each.name for each in self._everything())
        tool = VirtualTool(**given.model_dump(), sources=asked.tainted)
        async with self._db.owned(asked.me.owner) as tx:
            made = await make_tool(tx, asked.me.owner, tool, _origin(asked), taken)
        return Found({"name": made.name, "enabled": made.enabled}, f"tool {made.name} made")

    async def list(self, asked: Asked, _: NoArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            found = await store.tools(tx, asked.me.owner)
        sources = tuple(dict.fromkeys(source for each in found for source in each.sources))
        return Found({"tools": [_shown(each) for each in found]}, f"{len(found)} tools", sources)

    async def switch(self, asked: Asked, given: SwitchArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            await switch_tool(tx, asked.me.owner, given.name, enabled=given.enabled)
        return Found({"name": given.name, "enabled": given.enabled}, f"tool {given.name} {'on' if given.enabled else 'off'}")  # fmt: skip

    async def delete(self, asked: Asked, given: NameArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            await delete_tool(tx, asked.me.owner, given.name)
        return Found({"name": given.name, "state": "gone"}, f"tool {given.name} deleted")

    async def run(self, asked: Asked, given: RunArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            tool = await store.find_tool(tx, asked.me.owner, given.name)
        if tool is None:
            raise no_such(given.name)
        ran = await self._runner.run(asked, tool, given.input)
        return Found({"result": ran.answer, "calls": ran.told()}, f"ran {tool.name}", tuple(ran.sources))


def _origin(asked: Asked) -> Origin:
    return Origin(asked.conversation_id, asked.turn_id, asked.tainted)


def _told(found: Behavior) -> dict[str, Any]:
    at = found.at.isoformat(timespec="seconds") if found.at else None
    return {"version": found.version, "text": found.text, "at": at, "sources": list(found.sources)}


def _shown(tool: VirtualTool) -> dict[str, Any]:
    fields = {name: getattr(tool, name) for name in ("name", "description", "prompt", "input_hint", "enabled")}
    return fields | {"sources": list(tool.sources)}


def make_tools(db: Database, runner: Runner, everything: Callable[[], Tools]) -> tuple[Tool, ...]:
    """`everything`: all tools of the agent, whose names a virtual tool may not take."""
    mine = HabitTools(db, runner, everything)
    about_change = "Keep how the user wants you to be, from now on and in every conversation (a name to call them by, a language, a manner). Versions are kept and can be undone."
    about_make = "Keep a request of the user under a name, so that it can be run again with another input. {input} in the prompt stands for the input."
    rows: tuple[tuple[Any, ...], ...] = (
        ("update_behavior", about_change, BehaviorArguments, mine.change, "behavior"),
        ("show_behavior", "How the user wants you to be.", NoArguments, mine.show, ""),
        ("undo_behavior", "Go back to the behavior before the last change.", NoArguments, mine.undo, "behavior"),
        ("make_tool", about_make, ToolArguments, mine.make, "tools"),
        ("list_tools", "The tools that the user made.", NoArguments, mine.list, ""),
        ("switch_tool", "Switch a tool that the user made on or off.", SwitchArguments, mine.switch, "tools"),
        ("delete_tool", "Delete a tool that the user made.", NameArguments, mine.delete, "tools"),
        ("run_tool", "Run a tool that the user made, with an input.", RunArguments, mine.run, ""),
    )
    tools = (Tool(name, about, takes, run, PEOPLE, writes=writes) for name, about, takes, run, writes in rows)
    return tuple(replace(each, ordered=_ordered) if each.name == "update_behavior" else each for each in tools)


def _ordered(said: str, given: BehaviorArguments) -> bool:
    return given.add and orders(said, given.text)
