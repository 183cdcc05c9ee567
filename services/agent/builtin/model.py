"""The built-in model: rules in English and German that need no network and cost nothing, and do their jobs by the tools they are offered."""

import json
from collections.abc import AsyncIterator, Iterator

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from services.agent.builtin.domain import Say, Step
from services.agent.builtin.purposes import SUMMARY, TITLE
from services.agent.builtin.rules import decide
from services.agent.builtin.scene import scene_of, transcript
from services.agent.builtin.side import summary, title

NAME = "built-in"
PIECE = 24
"""Characters of a reply's pieces, at least: cut at a blank, as a model's tokens are."""


def builtin_model() -> FunctionModel:
    return FunctionModel(_whole, stream_function=_streamed, model_name=NAME)


async def _whole(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    step = _step(messages, info)
    if isinstance(step, Say):
        return ModelResponse(parts=[TextPart(step.text)])
    return ModelResponse(parts=[ToolCallPart(name, dict(arguments)) for name, arguments in step.calls])


async def _streamed(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    step = _step(messages, info)
    if isinstance(step, Say):
        for piece in pieces(step.text):
            yield piece
        return
    for place, (name, arguments) in enumerate(step.calls):
        yield {place: DeltaToolCall(name, json.dumps(dict(arguments), ensure_ascii=False))}


def _step(messages: list[ModelMessage], info: AgentInfo) -> Step:
    """Titles and summaries are asked for by their instructions; all else is a message."""
    asked = info.instructions or ""
    scene = scene_of(messages, info)
    if TITLE in asked:
        return Say(title(scene.text))
    if SUMMARY in asked:
        return Say(summary(transcript(messages[:-1]) or scene.text, 10))
    return decide(scene)


def pieces(text: str) -> Iterator[str]:
    """The text in order, nothing lost."""
    start = 0
    while start < len(text):
        blank = text.find(" ", start + PIECE)
        end = len(text) if blank < 0 else blank + 1
        yield text[start:end]
        start = end
