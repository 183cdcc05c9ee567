"""Text that comes in (rule 19): a person's is refused with the reason, a model's or a tool's is made storable, and the row says so."""

import json
import math
import re
from dataclasses import replace
from typing import Any

from schemas.text import text_fault
from services.agent.conversations.domain import MAX_MESSAGE, ToolCall
from shared.errors import Refused, TooLarge

MARK = "\ufffd"
"""What stands for a character that cannot be stored."""
DEEPEST = 48
MOST_RESULT = 256 * 1024
"""Bytes of one tool's result, as JSON, that a conversation keeps."""
MOST_TITLE = 80
MOST_REPLY = 1024 * 1024
"""Characters of one reply that a conversation keeps."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_message(text: str) -> str:
    """A person's message. Refused when it is empty, holds a NUL or a lone surrogate; TooLarge above 256 KiB (rule 5)."""
    fault = text_fault(text)
    if fault:
        raise Refused(fault, code="text")
    if not text.strip():
        raise Refused("The message is empty; write something.", code="empty")
    size = len(text.encode())
    if size > MAX_MESSAGE:
        raise TooLarge(f"A message has at most {MAX_MESSAGE // 1024} KiB; this one has {size / 1024:.0f} KiB.")
    return text


def clean(text: str) -> str:
    """NUL and lone surrogates become U+FFFD; everything else stays, the six typed characters \\u0000 too."""
    return _UNSTORABLE.sub(MARK, text)


def clean_value(value: Any, depth: int = 0) -> Any:
    """A JSON value of which every text is storable. What JSON has no word for is told as text."""
    if depth > DEEPEST:
        return f"{MARK} (more than {DEEPEST} levels deep)"
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return clean(value)
        case dict():
            return {clean(str(key)): clean_value(each, depth + 1) for key, each in value.items()}
        case list() | tuple():
            return [clean_value(each, depth + 1) for each in value]
        case _:
            return clean(str(value))


def clean_call(call: ToolCall) -> tuple[ToolCall, bool]:
    """The call as it is stored, and whether that is not what came."""
    arguments, result = clean_value(call.arguments), clean_value(call.result)
    size = len(json.dumps(result))
    if size > MOST_RESULT:
        start = json.dumps(result, ensure_ascii=False)[: MOST_RESULT // 8]
        result = {"cut": f"{size} bytes, of which the conversation keeps the start", "start": start}
    kept = replace(call, tool=clean(call.tool), arguments=arguments, result=result, shown=clean(call.shown)[:2000])
    return kept, (arguments, result) != (call.arguments, call.result)


def check_title(title: str) -> str:
    """A conversation's title, one line of at most 200 characters. Refused for a NUL or a lone surrogate."""
    fault = text_fault(title)
    if fault:
        raise Refused(fault, code="text")
    return " ".join(title.split())[:200]


def title_of(text: str) -> str:
    """A conversation is called by its first words, until it is given another name."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_TITLE else line[: MOST_TITLE - 1].rstrip() + "…"
