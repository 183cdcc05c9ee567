"""What a call may use at most, what it has used so far, and what a provider says that it used. Tokens throughout."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from services.agent.loop.domain import MAX_OUTPUT
from services.agent.spend.domain import Estimate, Figures
from services.agent.spend.domain import money as exact

PER_REQUEST, PER_MESSAGE = 512, 32
"""Tokens that a provider adds for its own framing, generously."""
BYTES_A_TOKEN = 4
"""Of usual text. A token has at least one byte: that is the bound of what a request can use."""
MOST_TOKENS = 2**53


@dataclass(frozen=True)
class Size:
    """Bytes of a request as a provider reads it, and its messages."""

    count: int
    messages: int
    most_out: int

    @property
    def estimate(self) -> Estimate:
        """The most that it can use: a token for every byte."""
        return Estimate(self.count + PER_REQUEST + PER_MESSAGE * self.messages, self.most_out)

    @property
    def likely_in(self) -> int:
        """What it has most likely used, where the provider does not say."""
        return self.count // BYTES_A_TOKEN + PER_MESSAGE * self.messages // BYTES_A_TOKEN


def size_of(
    messages: Sequence[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
) -> Size:
    tools = [[each.name, each.description, each.parameters_json_schema] for each in parameters.function_tools]
    count = len(ModelMessagesTypeAdapter.dump_json(list(messages))) + len(json.dumps(tools).encode())
    most = (settings or {}).get("max_tokens") or MAX_OUTPUT
    return Size(count, sum(len(each.parts) for each in messages) + len(tools), most)


def produced(response: ModelResponse, pieces: int) -> int:
    """Tokens of an answer so far, where the provider does not say: a piece of a stream has one at least."""
    count = 0
    for part in response.parts:
        text = getattr(part, "content", None) or getattr(part, "args", None) or ""
        count += len((text if isinstance(text, str) else json.dumps(text)).encode("utf-8", "replace"))
    return max(pieces, -(-count // BYTES_A_TOKEN))


def whole(stream: StreamedResponse, size: Size) -> Figures:
    """Of an answer that came to its end. A reported 0 stays 0 (rule 2)."""
    response = stream.get()
    usage, told = response.usage, stream._usage_received
    if not (_said(usage) if told is None else told):
        return Figures(size.likely_in, produced(response, 0), None, estimated=True)
    return Figures(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)


def cut(response: ModelResponse | None, pieces: int, size: Size) -> Figures:
    """Of an answer that was cut off: what the provider said, and our own count of what came (rule 2)."""
    if response is None:
        return Figures(size.likely_in, 0, None, estimated=True)
    usage = response.usage
    count_in = usage.input_tokens if usage.input_tokens else size.likely_in
    count_out = max(usage.output_tokens, produced(response, pieces))
    return Figures(count_in, count_out, usage.cache_read_tokens if _said(usage) else None, estimated=True)


def of_error(body: object) -> Figures | None:
    """What an error's body says that was used all the same. None when it says nothing (rule 2)."""
    if not isinstance(body, Mapping):
        return None
    inner = body.get("error")
    for holder in (body, inner if isinstance(inner, Mapping) else {}):
        usage = holder.get("usage")
        if isinstance(usage, Mapping):
            read = _first(usage, "prompt_tokens", "input_tokens")
            written = _first(usage, "completion_tokens", "output_tokens")
            if read is not None or written is not None:
                return Figures(read, written or 0, None)
    return None


def money(value: Decimal | None) -> str | None:
    return None if value is None else exact(value)


def _said(usage: RequestUsage) -> bool:
    return usage.has_values() or bool(usage.details)


def _first(usage: Mapping[str, Any], *names: str) -> int | None:
    found = (usage.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and 0 <= each < MOST_TOKENS), None)
