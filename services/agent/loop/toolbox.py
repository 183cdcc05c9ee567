"""From tools to what a model may call: by role, checked, recorded, and held back where untrusted text was read (S11)."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import isawaitable
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_ai._run_context import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from services.agent.conversations.domain import ToolCall
from services.agent.loop.domain import MAX_ITERATIONS
from services.agent.loop.history import result_of
from services.agent.owners.domain import Me
from services.agent.tools.domain import Arguments, Asked, Tool
from shared.errors import Refused, SchleuseError
from shared.faults import faults_told

_ANYTHING = SchemaValidator(core_schema.any_schema())
FOR_A_GUEST = (
    "This conversation has read text from outside. For a guest, nothing is changed in it any more; begin a new one."
)
SLOWEST = 120.0
"""Seconds that one tool may take."""


class Cards(Protocol):
    """Where what would be done in a tainted conversation waits for a person."""

    async def ask(self, asked: Asked, tool: Tool, arguments: Arguments) -> str:
        """A link to the card."""
        ...


@dataclass
class Toolbox(AbstractToolset[None]):
    """The tools of one turn. `tell` is told of each call as it begins; `taint` of what untrusted text was read;
    `still` is asked before each who the person is by now."""

    asked: Asked
    tools: Sequence[Tool]
    cards: Cards
    tell: Callable[[ToolCall], None]
    taint: Callable[[Sequence[str]], Awaitable[None]]
    still: Callable[[Me], Awaitable[Me]] | None = None
    done: dict[str, ToolCall] = field(default_factory=dict)

    @property
    def id(self) -> str | None:
        return "tools"

    def offers(self, name: str) -> bool:
        return any(each.name == name and each.may(self.asked.me.role) for each in self.tools)

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        role = self.asked.me.role
        return {
            each.name: ToolsetTool(toolset=self, tool_def=_definition(each), max_retries=MAX_ITERATIONS, args_validator=_ANYTHING)
            for each in self.tools
            if each.may(role)
        }  # fmt: skip

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[None], tool: ToolsetTool[None]) -> Any:
        """What the model reads. Nothing that a tool does wrong ends the turn."""
        call = ToolCall(ctx.tool_call_id or name, name, _object(tool_args), "interrupted")
        self.tell(call)
        clock = asyncio.get_running_loop().time
        begun = clock()
        found = await self._as_now(name, tool_args)
        call = ToolCall(
            call.call_id, name, call.arguments, found[0], found[1], found[2], round((clock() - begun) * 1000)
        )
        self.done[call.call_id] = call
        return result_of(call)

    async def _as_now(self, name: str, given: Any) -> tuple[Any, Any, str]:
        """A role that was taken away meanwhile opens no tool any more."""
        if self.still is not None:
            try:
                self.asked = replace(self.asked, me=await self.still(self.asked.me))
            except SchleuseError as error:
                return _said("refused", error.message)
        return await self._run(name, given)

    async def _run(self, name: str, given: Any) -> tuple[Any, Any, str]:
        """State, result, and a line for the page."""
        tool = next((each for each in self.tools if each.name == name and each.may(self.asked.me.role)), None)
        if tool is None:
            return _said("refused", f"There is no tool {name}.")
        try:
            arguments = tool.takes.model_validate(given)
        except ValidationError as error:
            return _said("failed", _faults(error))
        try:
            async with asyncio.timeout(SLOWEST):
                with faults_told(name):
                    ordered = tool.ordered(self.asked.said, arguments)
                    if tool.always or (tool.writes and self.asked.tainted and not ordered):
                        exact = tool.exact(self.asked, arguments)
                        return await self._card(tool, await exact if isawaitable(exact) else exact)
                    found = await tool.run(replace(self.asked, tainted=()) if ordered else self.asked, arguments)
            await self._read(found.sources)
        except TimeoutError:
            return _said(
                "failed", f"{name} took more than {SLOWEST:.0f} seconds and was ended. It may have had an effect."
            )
        except SchleuseError as error:
            state = "refused" if isinstance(error, Refused) else "failed"
            return state, {"error": error.message, "code": error.code}, error.message
        return "done", found.value, found.shown

    async def _card(self, tool: Tool, arguments: Arguments) -> tuple[Any, Any, str]:
        if self.asked.me.is_guest:
            return _said("refused", FOR_A_GUEST)
        link = await self.cards.ask(self.asked, tool, arguments)
        why = "Whatever works by itself" if tool.always else "This conversation has read text from outside, so this"
        said = f"Not done. {why} has to be decided by a person on a card first."
        exact = {"asks_for": arguments.model_dump(mode="json")} if tool.always else {}
        return "waiting", {"waiting": said, "card": link} | exact, f"Waits for a person: {link}"

    async def _read(self, sources: Sequence[str]) -> None:
        if sources:
            known = self.asked.tainted
            merged = (*known, *(each for each in dict.fromkeys(sources) if each not in known))
            self.asked = replace(self.asked, tainted=merged)
            await self.taint(sources)


@cache
def _definition(tool: Tool) -> ToolDefinition:
    """One after another: what one tool reads decides whether the next may change anything."""
    schema = tool.takes.model_json_schema()
    schema.pop("title", None)
    return ToolDefinition(name=tool.name, description=tool.about, parameters_json_schema=schema, sequential=True)


def _said(state: str, words: str) -> tuple[Any, Any, str]:
    return state, {"error": words}, words


def _object(given: Any) -> dict[str, Any]:
    return (
        {str(name): each for name, each in given.items()} if isinstance(given, dict) else {"": json.dumps(given)[:1000]}
    )


def _faults(error: ValidationError) -> str:
    """What does not fit, so that the model can correct it. What it gave is not repeated."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)[:5]
    return "; ".join(
        f"{'.'.join(str(part)[:60] for part in each['loc']) or 'arguments'}: {each['msg']}" for each in faults
    )
