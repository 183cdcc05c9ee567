"""Providers of language models, scripted: what they say is fixed, and so is what they charge."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from tests.counterparts.server import LAST_CHUNK, Handler, Seen, chunk, head, whole

KEY = "sk-right-one-7f3a9c2e51"
WORDS = ("Good", " morning", ",", " Kim", ".")
READ, WRITTEN = 12, 5
STREAM = ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")


def openai(key: str = KEY, words: Sequence[str] = WORDS, gap_s: float = 0.0) -> Handler:
    """OpenAI's interface below `/v1`, for whoever shows the key. `gap_s`: between two events of a stream."""

    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        asked = _asked(seen)
        if seen.header("authorization") != f"Bearer {key}":
            shown = seen.header("authorization").removeprefix("Bearer ")
            answer = {
                "error": {
                    "message": f"Incorrect API key provided: {shown}.",
                    "type": "invalid_request_error",
                    "code": "invalid_api_key",
                }
            }
            writer.write(_json(401, answer))
        elif seen.path == "/v1/models":
            writer.write(
                _json(
                    200,
                    {"object": "list", "data": [{"id": "small", "object": "model", "created": 1, "owned_by": "us"}]},
                )
            )
        elif seen.path == "/v1/embeddings":
            writer.write(_json(200, _embedding()))
        elif seen.path != "/v1/chat/completions":
            writer.write(_json(404, {"error": {"message": f"Unknown path {seen.path}"}}))
        elif asked.get("stream"):
            usage = bool((asked.get("stream_options") or {}).get("include_usage"))
            await _stream(writer, [*_openai_events(words, usage=usage), "data: [DONE]"], gap_s)
        else:
            writer.write(_json(200, _completion("".join(words))))

    return handle


def anthropic(key: str = KEY, words: Sequence[str] = WORDS, gap_s: float = 0.0) -> Handler:
    """Anthropic's interface below `/v1`."""

    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        asked = _asked(seen)
        if seen.header("x-api-key") != key:
            error = {"type": "authentication_error", "message": f"invalid x-api-key {seen.header('x-api-key')}"}
            writer.write(_json(401, {"type": "error", "error": error}))
        elif not seen.header("anthropic-version"):
            error = {"type": "invalid_request_error", "message": "anthropic-version: header is required"}
            writer.write(_json(400, {"type": "error", "error": error}))
        elif seen.path != "/v1/messages":
            writer.write(_json(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such path"}}))
        elif asked.get("stream"):
            await _stream(writer, _anthropic_events(words), gap_s)
        else:
            usage = {"input_tokens": READ, "output_tokens": WRITTEN}
            writer.write(_json(200, _message([{"type": "text", "text": "".join(words)}], usage, "end_turn")))

    return handle


async def _stream(writer: asyncio.StreamWriter, events: Sequence[str], gap_s: float) -> None:
    writer.write(head(200, *STREAM))
    for event in events:
        writer.write(chunk(f"{event}\n\n".encode()))
        await writer.drain()
        await asyncio.sleep(gap_s)
    writer.write(LAST_CHUNK)


def _asked(seen: Seen) -> dict[str, Any]:
    return dict(json.loads(seen.body)) if seen.body else {}


def _json(status: int, answer: Any) -> bytes:
    return whole(status, json.dumps(answer).encode(), ("Content-Type", "application/json"))


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [choice],
        "usage": usage,
    }


def _openai_events(words: Sequence[str], *, usage: bool) -> list[str]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
    events = [{**base, "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in words]
    events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if usage:
        figures = {"prompt_tokens": READ, "completion_tokens": WRITTEN, "total_tokens": READ + WRITTEN}
        events.append({**base, "choices": [], "usage": figures})
    return [f"data: {json.dumps(event)}" for event in events]


def _anthropic_events(words: Sequence[str]) -> list[str]:
    first = _message([], {"input_tokens": READ - 2, "cache_read_input_tokens": 2, "output_tokens": 1}, None)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": first},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in words),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": WRITTEN},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}" for event in events]


def _message(content: list[Any], usage: dict[str, int], stop: str | None) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "small",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _embedding() -> dict[str, Any]:
    data = [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]
    return {"object": "list", "data": data, "model": "small", "usage": {"prompt_tokens": READ, "total_tokens": READ}}
