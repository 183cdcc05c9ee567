"""Calls of a model beside the reply: a title, a summary, the prompt of somebody's own tool. Each is a row of the ledger tied to its turn (SP-07)."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import UsageLimits

from services.agent.builtin.purposes import SUMMARY, TITLE
from services.agent.domain import mend
from services.agent.loop.metering import Bill, Counted, Metered
from services.agent.loop.models import Chosen
from services.agent.loop.outside import delegation
from services.agent.spend.domain import Spending
from services.agent.tools.domain import Asked
from shared.errors import NotFound

PATIENCE = 60.0
"""Seconds that a side call may take."""
TITLE_TOKENS, SUMMARY_TOKENS, TOOL_TOKENS = 32, 512, 1024
LONGEST_TITLE = 120


class SideCalls:
    """Those of the turns that run in this process."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending
        self._turns: dict[UUID, tuple[Chosen, Bill]] = {}

    def begin(self, turn_id: UUID, chosen: Chosen, bill: Bill) -> None:
        self._turns[turn_id] = (chosen, bill)

    def end(self, turn_id: UUID) -> None:
        self._turns.pop(turn_id, None)

    async def ask(
        self, asked: Asked, purpose: str, instructions: str, text: str, *, toolsets: Sequence[AbstractToolset[None]] = (), requests: int = 1
    ) -> str:  # fmt: skip
        """What the turn's own model answers, with these tools and in so many requests at most. Refused at the cap as any other call; nothing is called without a turn that runs."""
        if asked.turn_id not in self._turns:
            raise NotFound("The turn that asked is over.", code="turn")
        return await self._call(asked.turn_id, purpose, instructions, text, (), TOOL_TOKENS, toolsets, requests)

    async def title(self, turn_id: UUID, text: str) -> str:
        """One line."""
        found = await self._call(turn_id, "title", TITLE, text[:4000], (), TITLE_TOKENS)
        return " ".join(found.split()).strip("\"'“”„«»")[:LONGEST_TITLE]

    async def summary(self, turn_id: UUID, messages: Sequence[ModelMessage]) -> str:
        return await self._call(turn_id, "summary", SUMMARY, SUMMARY, messages, SUMMARY_TOKENS)

    async def _call(
        self, turn_id: UUID, purpose: str, instructions: str, text: str, before: Sequence[ModelMessage], most: int,
        toolsets: Sequence[AbstractToolset[None]] = (), requests: int = 1,
    ) -> str:  # fmt: skip
        chosen, bill = self._turns[turn_id]
        model: Counted = Counted(chosen.model, requests)
        if not chosen.is_built_in:
            model = Metered(chosen.model, self._spending, bill, chosen.connector, purpose, most=requests)
        token = delegation.set(chosen.delegation)
        try:
            async with asyncio.timeout(PATIENCE):
                found = await _ASKED.run(
                    text, message_history=list(before), model=model, instructions=instructions, toolsets=list(toolsets),
                    model_settings=ModelSettings(max_tokens=most), usage_limits=UsageLimits(request_limit=None),
                )  # fmt: skip
        finally:
            delegation.reset(token)
        return mend(found.output)


_ASKED: Agent[None, str] = Agent(None, output_type=str, name="side")
