"""Kinds of connectors in the running product: the providers' own clients through the tunnel, echoes, refreshed tokens, and how those outside are."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import anthropic
import httpx2
import openai
import pytest

from shared.asking.asker import Asker
from shared.ids import fresh_id
from shared.sealing import check_fields, read_place, read_recipient, seal
from tests.counterparts import providers
from tests.counterparts.hostile import hostile
from tests.counterparts.server import Counterpart, Seen, serving, whole
from tests.counterparts.tokens import TokenAddress
from tests.factories.asking import asking, decide, declare, entries
from tests.factories.leaks import found_in, plant
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
T = TypeVar("T")
MINE = fresh_id().hex[:6]
GPT, CLAUDE, ODD, FRESH, SILENT = (f"{name}-{MINE}" for name in ("gpt", "claude", "odd", "fresh", "silent"))
HELLO: Any = [{"role": "user", "content": "hello"}]


def put(stack: Stack, connector: str, kind: Any = "api_key", **fields: str) -> None:
    place = read_place(f"agent/{connector}/main")
    sealed = base64.b64encode(seal(read_recipient(stack.layout.public_keys), place, kind, fields)).decode()
    public = check_fields(kind, fields).public()
    wanted = {"action": "put", "place": str(place), "type": kind, "sealed": sealed, "public": public}
    stack.ask("console", "secrets.change", **wanted, reason="a test")


def granted(stack: Stack, connector: str, use: Callable[[Asker], Awaitable[T]]) -> T:
    """What `use` returns; a person allows what it waits for."""

    async def work(asker: Asker) -> T:
        answer = asyncio.ensure_future(use(asker))
        await asyncio.to_thread(decide, stack, connector)
        return await answer

    return asking(stack, work)


def client(asker: Asker, connector: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=asker.transport(connector, wait_s=20), trust_env=False, timeout=25)


@pytest.fixture(scope="module")
def chat(stack: Stack) -> Iterator[Counterpart]:
    key = plant()
    with serving(providers.openai(key, gap_s=0.02)) as found:
        declare(stack, GPT, kind="llm", base=f"{found.url}/v1")
        put(stack, GPT, key=key)
        yield found


def test_the_client_of_openai_works_through_the_tunnel(stack: Stack, chat: Counterpart) -> None:
    async def use(asker: Asker) -> Any:
        async with client(asker, GPT) as http:
            sdk = openai.AsyncOpenAI(
                api_key="dummy", base_url=f"https://{GPT}.connector", http_client=http, max_retries=0
            )
            whole_answer = await sdk.chat.completions.create(model="small", messages=HELLO)
            stream = await sdk.chat.completions.create(
                model="small", messages=HELLO, stream=True, stream_options={"include_usage": True}
            )
            chunks = [each async for each in stream]
            return whole_answer, chunks

    answer, chunks = granted(stack, GPT, use)
    assert answer.choices[0].message.content == "Good morning, Kim."
    assert "".join(each.choices[0].delta.content or "" for each in chunks if each.choices) == "Good morning, Kim."
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (providers.READ, providers.WRITTEN)
    until(lambda: len(entries(stack, GPT, asker="agent", outcome="ok")) == 2)
    for entry in entries(stack, GPT, asker="agent", outcome="ok"):
        assert (entry["operation"], entry["tokens_in"], entry["tokens_out"]) == (
            "chat",
            providers.READ,
            providers.WRITTEN,
        )
        assert entry["secret"] == f"agent/{GPT}/main v1"
    assert {each.header("authorization") for each in chat.seen if each.method == "POST"} != {"Bearer dummy"}


def test_the_client_of_anthropic_works_through_the_tunnel(stack: Stack) -> None:
    async def use(asker: Asker) -> Any:
        async with client(asker, CLAUDE) as http:
            sdk = anthropic.AsyncAnthropic(
                api_key="dummy", base_url=f"https://{CLAUDE}.connector", http_client=http, max_retries=0
            )
            said = await sdk.messages.create(model="small", max_tokens=9, messages=HELLO)
            async with sdk.messages.stream(model="small", max_tokens=9, messages=HELLO) as stream:
                return said, [text async for text in stream.text_stream], await stream.get_final_message()

    key = plant()
    with serving(providers.anthropic(key)) as there:
        declare(stack, CLAUDE, kind="llm", provider="anthropic", base=there.url)
        put(stack, CLAUDE, key=key)
        said, words, final = granted(stack, CLAUDE, use)
        assert said.content[0].text == "Good morning, Kim."
        assert tuple(words) == providers.WORDS
        assert final.usage.output_tokens == providers.WRITTEN
    until(lambda: len(entries(stack, CLAUDE, asker="agent", outcome="ok")) == 2)
    told = entries(stack, CLAUDE, asker="agent", outcome="ok")
    assert {(each["tokens_in"], each["tokens_out"]) for each in told} == {(providers.READ, providers.WRITTEN)}


def test_an_echoed_key_is_masked_and_the_audit_says_so(stack: Stack) -> None:
    with serving(hostile) as there:
        declare(stack, ODD, base=there.url, auth=["bearer"])
        put(stack, ODD, key=plant())
        found = granted(stack, ODD, lambda asker: asker.call(ODD, "get", {"path": "/echo"}, wait_s=20))
    assert found_in([json.dumps(found), *found["json"]["spelled"]]) == []
    assert all("*****" in each for each in found["json"]["spelled"])
    until(lambda: entries(stack, ODD, asker="agent", outcome="ok"))
    assert "an echoed credential was masked" in entries(stack, ODD, asker="agent", outcome="ok")[0]["detail"]


def test_an_access_token_is_fetched_once_for_calls_at_once(stack: Stack) -> None:
    tokens = TokenAddress(refresh=plant(), slow_s=0.2)

    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.path == "/token":
            return await tokens.handle(seen, writer)
        right = tokens.granted and seen.header("authorization") == f"Bearer {tokens.access}"
        return writer.write(whole(200 if right else 401))

    async def use(asker: Asker) -> Any:
        first = await asker.call(FRESH, "get", {"path": "/"}, wait_s=20)
        more = await asyncio.gather(*(asker.call(FRESH, "get", {"path": "/"}) for _ in range(10)))
        return [each["status"] for each in (first, *more)]

    with serving(handle) as there:
        declare(stack, FRESH, base=there.url, auth=["oauth2"])
        client = {"client_id": "client", "client_secret": "cl sec/ret-value"}
        put(stack, FRESH, "oauth2", token_url=f"{there.url}/token", refresh_token=tokens.refresh, **client)
        assert granted(stack, FRESH, use) == [200] * 11
    assert (tokens.granted, tokens.reused) == (1, 0)
    kept = [path for path in stack.layout.secrets.iterdir() if path.suffix == ".token"]
    assert kept and all(tokens.access.encode() not in path.read_bytes() for path in kept)


def test_how_a_connector_is_stands_in_the_console_and_every_look_in_the_audit(stack: Stack) -> None:
    with serving(hostile) as there:
        declare(stack, SILENT, base=there.url)
        until(lambda: _listed(stack)["ok"] is True, 20)
    found = stack.ask("connectors", "connectors.check", name=SILENT)
    assert (found["ok"], "cannot be reached" in found["reason"]) == (False, True)
    until(lambda: _listed(stack)["ok"] is False, 20)
    looks = entries(stack, SILENT, operation="connector.check")
    assert [each["outcome"] for each in looks] == ["begun", "ok", "begun", "failed"]
    assert looks[0]["asker"] == "connectors"


def _listed(stack: Stack) -> dict[str, Any]:
    listed: list[dict[str, Any]] = stack.ask("console", "connectors.list")["connectors"]
    return next(each for each in listed if each["name"] == SILENT)
