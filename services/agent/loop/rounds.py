"""The rounds of one turn: a request to the model, the tools that it calls, and again, until it answers."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    PartDeltaEvent,
    PartStartEvent,
    RetryPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from services.agent.conversations.domain import Conversations, ToolCall
from services.agent.loop.domain import MAX_ITERATIONS, MAX_OUTPUT
from services.agent.loop.metering import Counted
from services.agent.loop.running import Turn
from services.agent.loop.toolbox import Toolbox

KEEP_EVERY = 1.0
"""Seconds."""
AGENT: Agent[None, str] = Agent(None, output_type=str, name="schleuse", retries=MAX_ITERATIONS)


class Rounds:
    """Of one turn. What a model called is kept with what came of it, round by round (rule 4)."""

    def __init__(
        self,
        turn: Turn,
        conversations: Conversations,
        toolbox: Toolbox,
        model: Counted,
        told: Callable[[], Awaitable[None]],
    ) -> None:
        """`told`: after each request, what it cost."""
        self._turn, self._conversations, self._toolbox, self._model = turn, conversations, toolbox, model
        self._told = told
        self._kept_at = asyncio.get_running_loop().time()

    async def run(self, history: Sequence[ModelMessage], prompt: str, instructions: str) -> None:
        asked = AGENT.iter(
            prompt, message_history=list(history), model=self._model, instructions=instructions, toolsets=[self._toolbox],
            model_settings=ModelSettings(max_tokens=MAX_OUTPUT), usage_limits=UsageLimits(request_limit=None),
        )  # fmt: skip
        async with asked as run:
            node = run.next_node
            while not Agent.is_end_node(node):
                if Agent.is_model_request_node(node):
                    await self._request(node, run)
                    node = await run.next(node)
                elif Agent.is_call_tools_node(node) and node.model_response.tool_calls:
                    node = await self._tools(node, run)
                else:
                    node = await run.next(node)

    async def _request(self, node: Any, run: Any) -> None:
        async with node.stream(run.ctx) as stream:
            await self._listen(stream)
        self._turn.iterations = self._model.requests
        await self._told()

    async def _listen(self, stream: AsyncIterable[Any]) -> None:
        async for event in stream:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    if text:
                        self._turn.write(text)
                        await self._keep()
                    await self._model.saw()
                case PartStartEvent() | PartDeltaEvent():
                    await self._model.saw()

    async def _keep(self) -> None:
        """What was said so far, now and then: should this process die, the conversation has it."""
        at = asyncio.get_running_loop().time()
        if at - self._kept_at >= KEEP_EVERY:
            self._kept_at = at
            await self._conversations.saying(self._turn.me, self._turn.turn_id, "".join(self._turn.reply))

    async def _tools(self, node: Any, run: Any) -> Any:
        """Noted as begun before the first runs; with all results they become one message."""
        turn, response = self._turn, node.model_response
        opened = [_opened(each) for each in response.tool_calls]
        await self._conversations.calling(turn.me, turn.ref.conversation_id, turn.turn_id, opened)
        following = await run.next(node)
        calls = [self._ended(each, following) for each in opened]
        await self._conversations.called(turn.me, turn.ref.conversation_id, turn.turn_id, calls)
        turn.calls += calls
        turn.show_tools(calls)
        turn.apart()
        return following

    def _ended(self, opened: ToolCall, following: Any) -> ToolCall:
        """As our toolbox did it; or what the library says to the model, who called what there is not, or in no JSON."""
        done = self._toolbox.done.get(opened.call_id)
        if done is not None:
            return done
        if not self._toolbox.offers(opened.tool):
            words = f"There is no tool {opened.tool}."
            return replace(opened, state="refused", result={"error": words}, shown=words)
        request = getattr(following, "request", None)
        parts = request.parts if isinstance(request, ModelRequest) else ()
        said = next((each for each in parts if getattr(each, "tool_call_id", None) == opened.call_id), None)
        words = said.model_response() if isinstance(said, RetryPromptPart) else "It was not run."
        return replace(opened, state="failed", result={"error": words}, shown=words.splitlines()[0][:200])


def _opened(part: ToolCallPart) -> ToolCall:
    try:
        arguments = part.args_as_dict()
    except (ValueError, AssertionError):
        arguments = {"": str(part.args)[:1000]}
    return ToolCall(part.tool_call_id, part.tool_name, arguments, "interrupted")
