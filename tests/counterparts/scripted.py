"""A provider of either interface that answers as a test writes it, keeps the bill, and takes no history in which a call has no result."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from tests.counterparts.providers import STREAM
from tests.counterparts.server import LAST_CHUNK, Seen, chunk, head, whole


@dataclass(frozen=True)
class Answer:
    """`calls`: (id, tool, arguments as JSON). `read`, `written`: tokens charged; `says`: whether the answer tells them. `cut_after`: the connection ends
    after so many pieces; `fault`: an error event comes then instead. `status` not 200: `body` is all there is, charged when it has `usage`."""

    words: Sequence[str] = ()
    calls: Sequence[tuple[str, str, str]] = ()
    status: int = 200
    body: Any = None
    read: int = 12
    written: int = 5
    says: bool = True
    gap_s: float = 0.0
    cut_after: int | None = None
    fault: Any = None
    headers: tuple[tuple[str, str], ...] = ()


Script = Callable[[dict[str, Any]], Answer]


@dataclass
class Scripted:
    """`asked`: each request's body. `bill`: tokens read and written, of each request that was charged. `refused`: histories that do not pair."""

    speaks: Literal["openai", "anthropic"] = "openai"
    script: Script | None = None
    answers: deque[Answer] = field(default_factory=deque)
    asked: list[dict[str, Any]] = field(default_factory=list)
    bill: list[tuple[int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    pieces: int = 0

    def says(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    def cost(self, price_in: str, price_out: str) -> Decimal:
        """The bill, at so many dollars a million."""
        total = sum(Decimal(price_in) * read + Decimal(price_out) * written for read, written in self.bill)
        return Decimal(total) / 1_000_000

    async def handle(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        asked = dict(json.loads(seen.body))
        self.asked.append(asked)
        fault = pairing(asked["messages"]) if self.speaks == "openai" else blocks_pairing(asked["messages"])
        if fault:
            self.refused.append(fault)
            writer.write(_json(400, {"error": {"type": "invalid_request_error", "message": fault}}))
            return
        answer = self.script(asked) if self.script else self.answers.popleft()
        if answer.status != 200:
            usage = (answer.body or {}).get("usage") if isinstance(answer.body, dict) else None
            if usage:
                self.bill.append((usage["prompt_tokens"], usage["completion_tokens"]))
            writer.write(_json(answer.status, answer.body, *answer.headers))
            return
        self.bill.append((answer.read, answer.written))
        events = _openai(answer) if self.speaks == "openai" else _anthropic(answer)
        await self._stream(writer, answer, list(events))

    async def _stream(self, writer: asyncio.StreamWriter, answer: Answer, events: list[str]) -> None:
        writer.write(head(200, *STREAM))
        for number, event in enumerate(events):
            if answer.cut_after is not None and number >= answer.cut_after:
                if answer.fault is None:
                    writer.transport.abort()
                    return
                writer.write(chunk(f"{answer.fault}\n\n".encode()))
                break
            writer.write(chunk(f"{event}\n\n".encode()))
            await writer.drain()
            self.pieces += 1
            await asyncio.sleep(answer.gap_s)
        writer.write(LAST_CHUNK)


def pairing(messages: Sequence[dict[str, Any]]) -> str:
    """As OpenAI's interface checks it: results follow their calls at once, all of them, and there are no others. Empty: it is right."""
    open_calls: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages[{at}]: a result of {message['tool_call_id']} without its call before it"
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{at}]: no result of {', '.join(sorted(open_calls))}"
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    return f"no result of {', '.join(sorted(open_calls))}" if open_calls else ""


def blocks_pairing(messages: Sequence[dict[str, Any]]) -> str:
    """As Anthropic's interface checks it: sides take turns, and what the user says next begins with the results of all calls."""
    open_calls: set[str] = set()
    side = ""
    for at, message in enumerate(messages):
        if message["role"] == side:
            return f"messages[{at}]: two of {side} in a row"
        side = message["role"]
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if results != open_calls:
            return f"messages[{at}]: results of {sorted(results)}, calls of {sorted(open_calls)}"
        open_calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return f"no result of {sorted(open_calls)}" if open_calls else ""


def _json(status: int, answer: Any, *headers: tuple[str, str]) -> bytes:
    return whole(status, json.dumps(answer).encode(), ("Content-Type", "application/json"), *headers)


def _openai(answer: Answer) -> Iterator[str]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    deltas: list[dict[str, Any]] = [{"content": word} for word in answer.words]
    for place, (call_id, tool, arguments) in enumerate(answer.calls):
        named = {"index": place, "id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}
        half = len(arguments) // 2
        deltas.append({"tool_calls": [named]})
        deltas += [
            {"tool_calls": [{"index": place, "function": {"arguments": part}}]}
            for part in (arguments[:half], arguments[half:])
        ]
    for delta in deltas:
        yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}"
    reason = "tool_calls" if answer.calls else "stop"
    yield f"data: {json.dumps({**base, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]})}"
    if answer.says:
        total = answer.read + answer.written
        figures = {"prompt_tokens": answer.read, "completion_tokens": answer.written, "total_tokens": total}
        yield f"data: {json.dumps({**base, 'choices': [], 'usage': figures})}"
    yield "data: [DONE]"


def _anthropic(answer: Answer) -> Iterator[str]:
    first = {
        "id": "m1", "type": "message", "role": "assistant", "model": "small", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": answer.read, "output_tokens": 1},
    }  # fmt: skip
    yield _event({"type": "message_start", "message": first})
    place = 0
    if answer.words:
        yield _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for word in answer.words:
            yield _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})
        yield _event({"type": "content_block_stop", "index": 0})
        place = 1
    for number, (call_id, tool, arguments) in enumerate(answer.calls, place):
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
        yield _event({"type": "content_block_start", "index": number, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield _event({"type": "content_block_delta", "index": number, "delta": delta})
        yield _event({"type": "content_block_stop", "index": number})
    ended = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": answer.written}})
    yield _event({"type": "message_stop"})


def _event(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}"
