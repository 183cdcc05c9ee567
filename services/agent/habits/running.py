"""Running a virtual tool: its stored request goes to the turn's own model, with the agent's tools, within a budget."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from pydantic_ai.toolsets import AbstractToolset

from services.agent.builtin.purposes import TOOL
from services.agent.conversations.domain import ToolCall
from services.agent.habits.domain import DEEPEST, MOST_REQUESTS, MOST_RUNS, VirtualTool
from services.agent.loop.faults import in_words
from services.agent.loop.toolbox import Cards, Toolbox
from services.agent.tools.domain import Asked, Tools
from shared.errors import Refused

MOST_TURNS = 10_000
_running: ContextVar[tuple[str, ...]] = ContextVar("virtual_tools", default=())
"""Virtual tools that run around this task, the outermost first."""


class Side(Protocol):
    """Calls of the turn's own model beside the reply; each is a row of the ledger tied to the turn (SP-07)."""

    async def ask(
        self, asked: Asked, purpose: str, instructions: str, text: str, *, toolsets: Sequence[AbstractToolset[None]], requests: int
    ) -> str: ...  # fmt: skip


@dataclass
class Ran:
    """What a run brought: the answer, the tools that it called, and the untrusted texts that those read."""

    answer: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    async def read(self, sources: Sequence[str]) -> None:
        self.sources += [each for each in sources if each not in self.sources]

    def told(self) -> list[dict[str, Any]]:
        """For the record of the turn: every tool call stands in it."""
        return [
            {"tool": each.tool, "arguments": each.arguments, "state": each.state, "shown": each.shown}
            for each in self.calls
        ]


class Runner:
    """One for a process. `tools`: all tools there are; the nested model is offered those of the role, but none that changes the owner's tools."""

    def __init__(self, side: Side, cards: Cards, tools: Callable[[], Tools]) -> None:
        self._side, self._cards, self._tools = side, cards, tools
        self._runs: OrderedDict[UUID, int] = OrderedDict()

    async def run(self, asked: Asked, tool: VirtualTool, given: str) -> Ran:
        """Refused (code `off`, `itself`, `too_deep`, `budget`) before anything is called."""
        self._check(asked, tool)
        ran = Ran()
        inner = replace(asked, tainted=_merged(asked, tool), depth=asked.depth + 1)
        offered = [each for each in self._tools() if each.writes != "tools"]
        box = Toolbox(inner, offered, self._cards, lambda _: None, ran.read)
        with _around(tool.name), in_words():
            ran.answer = await self._side.ask(
                inner, "tool", TOOL, tool.filled(given), toolsets=[box], requests=MOST_REQUESTS
            )
        ran.calls = list(box.done.values())
        await ran.read(tool.sources)
        return ran

    def _check(self, asked: Asked, tool: VirtualTool) -> None:
        around = _running.get()
        if not tool.enabled:
            raise Refused(f"the tool “{tool.name}” is switched off; switch it on first", code="off")
        if tool.name in around:
            raise Refused(f"the tool “{tool.name}” calls itself ({' → '.join((*around, tool.name))})", code="itself")
        if len(around) >= DEEPEST:
            raise Refused(f"tools may run in one another {DEEPEST} deep at most", code="too_deep")
        count = self._runs[asked.turn_id] = self._runs.pop(asked.turn_id, 0) + 1
        while len(self._runs) > MOST_TURNS:
            self._runs.popitem(last=False)
        if count > MOST_RUNS:
            raise Refused(f"one turn may run {MOST_RUNS} tools of yours at most", code="budget")


@contextmanager
def _around(name: str) -> Iterator[None]:
    token = _running.set((*_running.get(), name))
    try:
        yield
    finally:
        _running.reset(token)


def _merged(asked: Asked, tool: VirtualTool) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*asked.tainted, *tool.sources)))
