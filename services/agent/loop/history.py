"""A conversation as a model reads it. Every call is followed by its result, whatever became of it (CV-02, CV-03)."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from services.agent.conversations.domain import Message, ToolCall
from services.agent.domain import mend

MOST_OF_RESULT = 48 * 1024
"""Characters of one tool's result that a model reads; what is left out is said."""
NOTE = "[Note of the workplace, not of the user]"
NO_ANSWER = "[No answer was given.]"
INTERRUPTED = "This call was interrupted. Nobody knows whether it had an effect; it was not run again."


def mended(value: Any) -> Any:
    """Rule 19 in every text of a JSON value."""
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, dict):
        return {mend(str(name)): mended(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [mended(each) for each in value]
    return value


def to_models(messages: Sequence[Message]) -> list[ModelMessage]:
    """The messages for a model's next request: requests and responses in turn."""
    found: list[ModelMessage] = []
    unanswered = False
    for message in messages:
        match message.part:
            case "user":
                if unanswered:
                    found.append(ModelResponse([TextPart(NO_ANSWER)]))
                _ask(found, UserPromptPart(mend(message.text)))
            case "note":
                _ask(found, UserPromptPart(f"{NOTE} {mend(message.text)}"))
            case "reply":
                found.append(ModelResponse([TextPart(_reply(message))]))
            case "tools":
                _add_calls(found, message.calls)
        unanswered = message.part == "user" or (unanswered and message.part == "note")
    return found


def _add_calls(found: list[ModelMessage], calls: Sequence[ToolCall]) -> None:
    if calls:
        parts = [ToolCallPart(each.tool, mended(each.arguments), each.call_id) for each in calls]
        found.append(ModelResponse(parts))
        _ask(found, *(ToolReturnPart(each.tool, result_of(each), each.call_id) for each in calls))


def _ask(found: list[ModelMessage], *parts: ModelRequestPart) -> None:
    """Requests that follow one another are one: providers take no two of the same side."""
    if found and isinstance(found[-1], ModelRequest):
        found[-1] = ModelRequest([*found[-1].parts, *parts])
    else:
        found.append(ModelRequest(list(parts)))


def _reply(message: Message) -> str:
    text = mend(message.text)
    return f"{text}\n[This answer was cut off.]" if message.aborted else text or NO_ANSWER


def result_of(call: ToolCall) -> Any:
    """What a model reads of a call: its result, or what became of it."""
    if call.state == "interrupted":
        return {"state": "interrupted", "message": INTERRUPTED}
    return bounded(mended(call.result))


def bounded(value: Any) -> Any:
    """The value, or its beginning with a word on what is missing."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= MOST_OF_RESULT:
        return value
    return f"{text[:MOST_OF_RESULT]}\n[{len(text) - MOST_OF_RESULT} more characters were left out.]"
