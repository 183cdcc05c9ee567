"""The llm kind against scripted providers: streams as they come, usage as it was reported."""

import json
from typing import Any

import pytest

from services.connectors.kinds.llm import KIND
from services.connectors.kinds.usage import Usage
from shared.errors import Permanent, Refused
from tests.counterparts.calls import Call, prepare, secret, tunnel
from tests.counterparts.providers import KEY, READ, WORDS, WRITTEN, anthropic, openai
from tests.counterparts.server import Counterpart, serving

HELLO = {"model": "small", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture(scope="module")
def chat():  # type: ignore[no-untyped-def]
    with serving(openai(gap_s=0.01)) as found:
        yield found


@pytest.fixture(scope="module")
def claude():  # type: ignore[no-untyped-def]
    with serving(anthropic()) as found:
        yield found


def streaming(there: Counterpart, provider: str, path: str, key: str = KEY, **more: Any) -> Call:
    body = json.dumps(HELLO | {"stream": True, "max_tokens": 9} | more).encode()
    base = f"{there.url}/v1" if provider == "openai" else there.url
    head = tunnel(
        "POST", path, {"authorization": "Bearer dummy", "x-api-key": "dummy", "anthropic-version": "2023-06-01"}, body
    )
    return prepare(
        KIND, {"provider": provider, "base": base}, http=head, secrets=[secret("api_key", key=key)], sending=[body]
    )


async def test_openai_streams_with_usage(chat: Counterpart) -> None:
    call = streaming(chat, "openai", "/chat/completions", stream_options={"include_usage": True})
    await KIND.run(call)
    assert call.plan.operation == "chat"
    assert call.sent.endswith(b"data: [DONE]\n\n")
    assert len(call.chunks) >= len(WORDS)
    assert call.usage == (READ, WRITTEN)


async def test_usage_that_nobody_reported_is_unknown(chat: Counterpart) -> None:
    call = streaming(chat, "openai", "/chat/completions")
    await KIND.run(call)
    assert call.usage == (None, None)


async def test_anthropic_streams_with_usage(claude: Counterpart) -> None:
    call = streaming(claude, "anthropic", "/v1/messages")
    await KIND.run(call)
    assert call.plan.operation == "messages"
    assert call.usage == (READ, WRITTEN)


async def test_an_operation_answers_in_the_providers_own_words(chat: Counterpart, claude: Counterpart) -> None:
    key = [secret("api_key", key=KEY)]
    call = prepare(KIND, {"base": f"{chat.url}/v1"}, "chat", HELLO, secrets=key)
    assert (await KIND.run(call))["choices"][0]["message"]["content"] == "Good morning, Kim."
    assert call.usage == (READ, WRITTEN)
    listed = prepare(KIND, {"base": f"{chat.url}/v1"}, "models", secrets=key)
    assert (await KIND.run(listed))["data"][0]["id"] == "small"
    declared = {"provider": "anthropic", "base": claude.url}
    said = await KIND.run(prepare(KIND, declared, "messages", HELLO | {"max_tokens": 9}, secrets=key))
    assert said["content"][0]["text"] == "Good morning, Kim."


async def test_a_wrong_key_is_named_without_being_told(chat: Counterpart, claude: Counterpart) -> None:
    wrong = "sk-wrong-but-still-secret"
    call = streaming(chat, "openai", "/chat/completions", wrong)
    await KIND.run(call)
    assert call.status == "401"
    assert wrong.encode() not in call.sent
    declared = {"provider": "anthropic", "base": claude.url}
    with pytest.raises(Permanent, match="rotate the secret") as caught:
        await KIND.run(
            prepare(KIND, declared, "messages", HELLO | {"max_tokens": 9}, secrets=[secret("api_key", key=wrong)])
        )
    assert caught.value.code == "credential"


def test_what_is_no_operation_of_the_provider_is_refused(chat: Counterpart) -> None:
    for method, path in (
        ("POST", "/files"),
        ("DELETE", "/models/small"),
        ("POST", "/v1/messages"),
        ("GET", "/chat/completions"),
    ):
        with pytest.raises(Refused, match="takes chat"):
            prepare(KIND, {"base": f"{chat.url}/v1"}, http=tunnel(method, path))
    with pytest.raises(Refused, match="stream"):
        prepare(KIND, {"base": f"{chat.url}/v1"}, "chat", HELLO | {"stream": True})
    with pytest.raises(Refused, match="takes chat"):
        prepare(KIND, {"base": f"{chat.url}/v1"}, "messages", HELLO)


def test_a_reported_zero_stays_zero_and_nonsense_stays_unknown() -> None:
    usage = Usage(events=False)
    usage.feed(b'{"usage": {"prompt_tokens": 0, "completion_tokens": 0}}')
    usage.end()
    assert (usage.tokens_in, usage.tokens_out) == (0, 0)
    for odd in (
        b'{"usage": {"prompt_tokens": -1, "completion_tokens": "7"}}',
        b'{"usage": 7}',
        b'"usage"',
        b'{"usage": {',
        b'["usage"]',
    ):
        usage = Usage(events=False)
        usage.feed(odd)
        usage.end()
        assert (usage.tokens_in, usage.tokens_out) == (None, None)


def test_a_stream_that_is_cut_keeps_what_was_reported() -> None:
    usage = Usage(events=True)
    first = b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}\n\n'
    for at in range(0, len(first), 5):
        usage.feed(first[at : at + 5])
    usage.end()
    assert (usage.tokens_in, usage.tokens_out) == (7, None)
