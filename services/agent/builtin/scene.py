"""From pydantic-ai's messages to what the rules look at. Only what the model is given: its messages, and the tools that this role is offered."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo

from services.agent.builtin.domain import HEAD, Lang, Result, Scene
from services.agent.builtin.language import language, plain
from services.agent.habits.domain import HEADING
from services.agent.loop.history import NOTE
from services.agent.loop.preface import GUEST

MOST_EARLIER, MOST_PAST = 4, 12
GERMAN_WANTED = ("auf deutsch", "in german", "deutsch antworten")
ENGLISH_WANTED = ("auf englisch", "in english", "englisch antworten")
_BEHAVIOR = re.compile(rf"^# {re.escape(HEADING)}\n(?P<text>.*?)(?=\n\n# |\Z)", re.MULTILINE | re.DOTALL)


def scene_of(messages: Sequence[ModelMessage], info: AgentInfo) -> Scene:
    last = next((at for at in reversed(range(len(messages))) if _said(messages[at]) is not None), -1)
    text = (_said(messages[last]) or "") if last >= 0 else ""
    before = messages[: max(last, 0)]
    earlier = tuple(islice((plain(said)[:HEAD] for each in reversed(before) if (said := _said(each)) is not None), MOST_EARLIER))  # fmt: skip
    instructions = info.instructions or ""
    behavior = "".join(each["text"] for each in _BEHAVIOR.finditer(instructions))
    return Scene(
        text=text,
        lang=_lang(text, earlier[0] if earlier else "", behavior),
        offered=frozenset(each.name for each in info.function_tools),
        results=tuple(_results(messages[last:])) if last >= 0 else (),
        before=next((reply for each in reversed(before) if (reply := _replied(each))), ""),
        earlier=earlier,
        behavior=behavior,
        is_guest=GUEST in instructions,
        past=tuple(islice(_newest(before), MOST_PAST)),
    )


def transcript(messages: Sequence[ModelMessage]) -> str:
    """What both sides said, a paragraph each."""
    return "\n\n".join(said for each in messages if (said := _said(each) or _replied(each)))


def _lang(text: str, asked: str, behavior: str) -> Lang:
    """What the owner's behavior asks for last, else the message's own, else that of the message before it."""
    wanted = behavior.casefold()
    german, english = (max(wanted.rfind(each) for each in words) for words in (GERMAN_WANTED, ENGLISH_WANTED))
    if german != english:
        return "de" if german > english else "en"
    return language(text, language(asked))


def _said(message: ModelMessage) -> str | None:
    """What a person says in this message; notes of the workplace are not theirs."""
    if not isinstance(message, ModelRequest):
        return None
    parts = [_text(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
    found = [each for each in parts if not each.startswith(NOTE)]
    return "\n".join(found) if found else None


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each for each in content if isinstance(each, str))


def _replied(message: ModelMessage) -> str:
    if not isinstance(message, ModelResponse):
        return ""
    return "".join(part.content for part in message.parts if isinstance(part, TextPart))


def _results(messages: Sequence[ModelMessage]) -> Iterator[Result]:
    for message in messages:
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, ToolReturnPart):
                yield _result(part.tool_name, part.content)
            elif isinstance(part, RetryPromptPart):
                yield Result(part.tool_name or "", trouble=_fault(part))


def _newest(messages: Sequence[ModelMessage]) -> Iterator[Result]:
    for message in reversed(messages):
        yield from reversed(list(_results([message])))


def _fault(part: RetryPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return "; ".join(f"{'.'.join(str(at) for at in each['loc'])}: {each['msg']}" for each in part.content)


def _result(tool: str, content: Any) -> Result:
    """Results read back from a kept conversation are JSON; a card and an error are objects that say so."""
    value = content
    if isinstance(content, str) and content[:1] in "{[":
        try:
            value = json.loads(content)
        except ValueError:
            value = content
    if isinstance(value, dict):
        return Result(
            tool,
            value,
            trouble=str(value.get("error") or ""),
            card=str(value.get("card") or ""),
            code=str(value.get("code") or ""),
        )
    return Result(tool, value)
