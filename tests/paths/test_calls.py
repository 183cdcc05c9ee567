"""A call's whole way: asked over the bus with a service's key, admitted, written down, out through the guard, and back."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from shared.asking.asker import Asker
from shared.asking.wire import MAX_BODY
from shared.errors import Forbidden, NotFound, Refused, SchleuseError, TooLarge, TooMany
from shared.ids import fresh_id
from tests.counterparts.server import LAST_CHUNK, Counterpart, Seen, chunk, head, serving, whole
from tests.factories.asking import OWNER, asking, decide, declare, delegation, entries, grant
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
MINE = fresh_id().hex[:6]
NAME = f"there-{MINE}"
WAITED, FEW = f"waited-{MINE}", f"few-{MINE}"
AT = f"https://{NAME}.connector"


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    if seen.path.startswith("/slow"):
        writer.write(head(200, ("Transfer-Encoding", "chunked")) + chunk(b"first "))
        await writer.drain()
        for _ in range(1000):
            await asyncio.sleep(0.01)
            writer.write(chunk(b"."))
            await writer.drain()
        writer.write(LAST_CHUNK)
        return
    body = json.dumps({"method": seen.method, "path": seen.path, "bytes": len(seen.body)}).encode()
    writer.write(whole(200, body, ("Content-Type", "application/json")))


@pytest.fixture(scope="module")
def there(stack: Stack) -> Iterator[Counterpart]:
    """A real server on loopback, the connector that leads to it, and what the agent may do there."""
    with serving(answer) as found:
        declare(stack, NAME, base=found.url, methods=["GET", "POST"], per_minute=5000)
        grant(stack, NAME, "get", path="/granted")
        grant(stack, NAME, "post", path="/granted")
        yield found


def tunnel(asker: Asker, **more: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=asker.transport(NAME, **more), trust_env=False, timeout=20)


def ends(stack: Stack, path: str) -> list[dict[str, Any]]:
    """The entries of the one call whose target is this path, once it has ended."""
    found: list[dict[str, Any]] = []

    def ended() -> bool:
        found[:] = [entry for entry in entries(stack, NAME) if entry["target"].endswith(path)]
        return any(entry["outcome"] not in ("begun", "noted") for entry in found)

    until(ended, what=f"an end of {path}")
    return found


async def refusal(work: Any) -> SchleuseError:
    with pytest.raises(SchleuseError) as found:
        await work
    return found.value


def test_a_call_waits_for_a_person_once_and_stands_in_the_audit_twice(stack: Stack) -> None:
    with serving(answer) as other:
        declare(stack, WAITED, base=other.url)

        async def use(asker: Asker) -> Any:
            before = await refusal(asker.call(WAITED, "get", {"path": "/early"}))
            waiting = asyncio.ensure_future(
                asker.call(WAITED, "get", {"path": "/asked"}, wait_s=20, quoted="please <b>allow</b>")
            )
            await asyncio.to_thread(decide, stack, WAITED)
            return before, await waiting, await asker.call(WAITED, "get", {"path": "/again"})

        before, found, again = asking(stack, use)
        assert isinstance(before, Refused) and before.code == "card_pending" and "/cards/" in before.message
        assert found["json"]["path"] == "/asked" and again["json"]["path"] == "/again"
        assert [path for path in other.paths() if path != "/"] == ["/asked", "/again"], "beside checks of its health"
    until(lambda: len(entries(stack, WAITED, asker="agent", outcome="ok")) == 2)
    told = entries(stack, WAITED, asker="agent", outcome="ok")
    begun = entries(stack, WAITED, asker="agent", outcome="begun")
    assert [each["call_id"] for each in begun] == [each["call_id"] for each in told]
    assert [each["status"] for each in entries(stack, WAITED, outcome="refused")] == ["card_pending"]
    assert all(each["bytes_in"] and each["duration_ms"] is not None and each["trace_id"] for each in told)


def test_an_answer_is_streamed_while_it_is_made_and_a_body_of_many_pieces_arrives_whole(
    stack: Stack, there: Counterpart
) -> None:
    size = 3 * 1024 * 1024 + 7

    async def body() -> AsyncIterator[bytes]:
        for start in range(0, size, 50_000):
            yield b"b" * min(50_000, size - start)

    async def use(asker: Asker) -> Any:
        async with tunnel(asker) as client:
            sent = await client.post(f"{AT}/upload", content=body())
            async with client.stream("GET", f"{AT}/slow/early") as streamed:
                return sent.json(), await anext(streamed.aiter_raw())

    sent, first = asking(stack, use)
    assert sent == {"method": "POST", "path": "/upload", "bytes": size}
    assert first.startswith(b"first")
    assert ends(stack, "/upload")[-1]["bytes_out"] == size
    assert ends(stack, "/slow/early")[-1]["outcome"] == "cancelled", "the asker had enough"
    until(lambda: there.broken_off >= 1, what="the outside call is stopped")


def test_a_body_over_the_limit_is_refused_before_and_while_it_is_sent(stack: Stack, there: Counterpart) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 100_000

    async def use(asker: Asker) -> list[SchleuseError]:
        async with tunnel(asker) as client:
            return [
                await refusal(client.post(f"{AT}/long", content=b"x" * (MAX_BODY + 1))),
                await refusal(client.post(f"{AT}/endless", content=endless())),
                await refusal(asker.call(NAME, "post", {"path": "/long", "text": "x" * MAX_BODY})),
            ]

    for found in asking(stack, use):
        assert isinstance(found, TooLarge) and str(MAX_BODY) in found.message, found
    assert "/long" not in there.paths()


def test_what_is_not_allowed_is_refused_with_its_reason_and_is_an_entry(stack: Stack, there: Counterpart) -> None:
    before = len(there.seen)

    async def use(asker: Asker) -> list[SchleuseError]:
        async with tunnel(asker) as client:
            return [
                await refusal(asker.call("nowhere", "get", {"path": "/"})),
                await refusal(asker.call(NAME, "get", {"path": "/", "pth": "/"})),
                await refusal(asker.call(NAME, "put", {"path": "/"})),
                await refusal(client.get("http://169.254.169.254/latest")),
                await refusal(client.get("http://127.0.0.1:1/else")),
                await refusal(asker.call(NAME, "get", {"path": "/"}, secret="none")),
            ]

    found = asking(stack, use)
    assert isinstance(found[0], NotFound) and found[0].code == "connector_unknown"
    assert [each.code for each in found[1:]] == ["arguments", "method", "egress", "egress", "unknown_parameter"]
    assert len(there.seen) == before, "nothing left"
    told = [each["status"] for each in entries(stack, outcome="refused", asker="agent")]
    assert {each.code for each in found} <= set(told)


def test_acting_for_an_owner_takes_a_delegation_that_holds(stack: Stack, there: Counterpart) -> None:
    operation = f"{NAME}.get"
    bad = {
        "expired": delegation(stack, operation, minutes=-1),
        "of another surface": delegation(stack, operation, audience="site"),
        "for something else": delegation(stack, f"{NAME}.post"),
        "by another key": delegation(stack, operation, signed_by="decision"),
        "for days": delegation(stack, operation, minutes=3 * 24 * 60),
        "bound to an unknown card": delegation(stack, operation, card_id=fresh_id()),
        "bound to an instruction": delegation(stack, operation, instruction_hash="0" * 64),
    }

    async def use(asker: Asker) -> Any:
        refused = {
            why: await refusal(asker.call(NAME, "get", {"path": "/for"}, delegation=each)) for why, each in bad.items()
        }
        good = delegation(stack, operation, "audit.search")
        await asker.call(NAME, "get", {"path": "/for-seven"}, delegation=good)
        await asyncio.to_thread(ends, stack, "/for-seven")
        return refused, await asker.search_audit({}, delegation=good), await asker.search_audit({"limit": 200})

    refused, own, nobodys = asking(stack, use)
    for why, error in refused.items():
        assert isinstance(error, Forbidden) and error.code == "delegation", why
    assert "/for" not in there.paths()
    assert {each["on_behalf_of"] for each in own["entries"]} == {str(OWNER)}
    assert {each["on_behalf_of"] for each in nobodys["entries"]} == {""}


def test_switching_a_connector_off_cuts_what_runs_within_a_second(stack: Stack, there: Counterpart) -> None:
    async def use(asker: Asker) -> tuple[SchleuseError, float]:
        clock = asyncio.get_running_loop().time
        async with tunnel(asker) as client, client.stream("GET", f"{AT}/slow/cut") as streamed:
            pieces = streamed.aiter_raw()
            await anext(pieces)
            await asyncio.to_thread(stack.ask, "console", "connectors.switch", name=NAME, on=False, reason="a test")
            began = clock()
            with pytest.raises(SchleuseError) as found:
                async for _ in pieces:
                    pass
            return found.value, clock() - began

    try:
        error, seconds = asking(stack, use)
    finally:
        stack.ask("console", "connectors.switch", name=NAME, on=True, reason="a test")
    assert error.code == "connector_off" and seconds < 1
    assert ends(stack, "/slow/cut")[-1]["outcome"] == "cancelled"


def test_a_call_is_cancelled_by_its_id_by_its_own_service_alone(stack: Stack, there: Counterpart) -> None:
    async def use(asker: Asker) -> SchleuseError:
        async with tunnel(asker) as client, client.stream("GET", f"{AT}/slow/id") as streamed:
            call_id = streamed.extensions["call_id"]
            await asyncio.to_thread(stack.ask, "console", "ask.cancel", call_id=call_id)
            pieces = streamed.aiter_raw()
            for _ in range(20):
                await anext(pieces)  # the console's word is nothing to the agent's call
            await asker.cancel(call_id)
            with pytest.raises(SchleuseError) as found:
                async for _ in pieces:
                    pass
            return found.value

    assert asking(stack, use).code == "cancelled"


def test_more_calls_than_a_minute_has_room_for_are_refused(stack: Stack) -> None:
    with serving(answer) as other:
        declare(stack, FEW, base=other.url, per_minute=3)
        grant(stack, FEW)

        async def use(asker: Asker) -> SchleuseError:
            for _ in range(2):
                await asker.call(FEW, "get", {"path": "/one"})
            return await refusal(asker.call(FEW, "get", {"path": "/one"}))

        found = asking(stack, use)
        assert isinstance(found, TooMany) and "3 calls a minute" in found.message
        assert other.paths().count("/one") == 2, "the third was the one that a person allowed"


def test_every_outside_call_has_its_entries_and_every_entry_its_call(stack: Stack, there: Counterpart) -> None:
    """Item 6: what the other side saw is what the audit says was begun, whatever became of it."""
    asked = [f"/complete/{number}" for number in range(40)]

    async def one(asker: Asker, number: int) -> None:
        async with tunnel(asker) as client:
            try:
                if number % 4 == 0:
                    async with client.stream("GET", f"{AT}/slow{asked[number]}"):
                        return
                if number % 4 == 1:
                    await client.put(f"{AT}{asked[number]}")
                await client.get(f"{AT}{asked[number]}")
            except SchleuseError:
                return

    async def use(asker: Asker) -> None:
        await asyncio.gather(*(one(asker, number) for number in range(len(asked))))

    asking(stack, use)
    seen = sorted(path for path in there.paths() if "/complete/" in path)
    told = until(lambda: _settled(stack), what="every begun call has ended")
    assert sorted(entry["target"].partition(" ")[2] for entry in told) == sorted(f"{there.url}{path}" for path in seen)
    assert len(seen) == 30


def _settled(stack: Stack) -> list[dict[str, Any]]:
    """Entries of calls that left, when each has an end."""
    found = [each for each in entries(stack, NAME) if "/complete/" in each["target"]]
    begun = [each for each in found if each["outcome"] == "begun"]
    ended = {each["call_id"] for each in found if each["outcome"] in ("ok", "failed", "cancelled")}
    return begun if {each["call_id"] for each in begun} == ended else []
