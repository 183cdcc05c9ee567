"""Calls while something is broken: the audit, the asker, the connectors themselves, a reader who is slow."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from shared.asking.asker import Asker
from shared.asking.wire import CHUNK, WINDOW
from shared.bus.connection import Connection
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.ids import fresh_id
from shared.settings import Settings
from tests.counterparts.server import Counterpart, Seen, chunk, head, serving, whole
from tests.factories.asking import asking, declare, entries, grant
from tests.factories.stack import Stack, apart
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
NAME = f"trouble-{fresh_id().hex[:6]}"
AT = f"https://{NAME}.connector"
WRITING = "INSERT (seq, entry_id, entry, hash, previous) ON core.call_audit"
PIECE = b"x" * 50_000


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    if seen.path.startswith("/pour"):
        writer.write(head(200, ("Transfer-Encoding", "chunked")))
        for _ in range(190):
            writer.write(chunk(PIECE))
            await writer.drain()
    if seen.path.startswith("/drip"):
        writer.write(head(200, ("Transfer-Encoding", "chunked")))
        while True:
            writer.write(chunk(b"."))
            await writer.drain()
            await asyncio.sleep(0.05)
    writer.write(whole(200, b"{}"))


@pytest.fixture(scope="module")
def there(stack: Stack) -> Iterator[Counterpart]:
    with serving(answer) as found:
        declare(stack, NAME, base=found.url, per_minute=5000, retries=0)
        grant(stack, NAME)
        yield found


def last(stack: Stack, path: str) -> str:
    """How the call of this path ended; empty while it has not."""
    found = [each["outcome"] for each in entries(stack, NAME) if each["target"].endswith(path)]
    return found[-1] if found and found[-1] != "begun" else ""


async def get(asker: Asker, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=asker.transport(NAME), trust_env=False, timeout=60) as client:
        return await client.get(f"{AT}{path}")


def test_what_cannot_be_written_down_is_not_done(stack: Stack, there: Counterpart) -> None:
    async def use(asker: Asker) -> SchleuseError:
        with pytest.raises(SchleuseError) as found:
            await get(asker, "/unwritten")
        return found.value

    stack.ask_database("pgadm", "system_db", f"REVOKE {WRITING} FROM connectors")
    try:
        error = asking(stack, use)
        assert isinstance(error, Transient) and error.code == "audit"
        assert not stack.parts()["connectors"]["conditions"]["audit"]["ok"]
    finally:
        stack.ask_database("pgadm", "system_db", f"GRANT {WRITING} TO connectors")
    until(lambda: stack.parts()["connectors"]["conditions"]["audit"]["ok"], what="the audit recovers by itself")
    assert asking(stack, lambda asker: get(asker, "/written")).status_code == 200
    assert "/unwritten" not in there.paths() and "/written" in there.paths()


def test_a_slow_reader_holds_the_other_side_back(stack: Stack, there: Counterpart) -> None:
    async def use(asker: Asker) -> None:
        async with (
            httpx2.AsyncClient(transport=asker.transport(NAME), trust_env=False, timeout=60) as client,
            client.stream("GET", f"{AT}/pour/slowly") as streamed,
        ):
            await anext(streamed.aiter_raw())
            await asyncio.sleep(0.5)  # nothing is read meanwhile

    asking(stack, use)
    assert until(lambda: last(stack, "/pour/slowly"), 20) == "cancelled"
    taken = entries(stack, NAME, outcome="cancelled")[-1]["bytes_in"]
    assert 0 < taken <= WINDOW + CHUNK, "what may be under way, and no more"


@pytest.mark.long
def test_a_call_whose_asker_is_gone_is_stopped(stack: Stack, there: Counterpart) -> None:
    """The asker's process ends without a word."""

    async def vanish() -> None:
        connection = Connection(Settings.load("agent", stack.state), Health("test"))
        asker = Asker("agent", connection)
        await connection.start()
        await asker.start()
        client = httpx2.AsyncClient(transport=asker.transport(NAME), trust_env=False)
        streamed = await client.send(client.build_request("GET", f"{AT}/drip/gone"), stream=True)
        await anext(streamed.aiter_raw())
        await connection.stop()

    apart(lambda: asyncio.run(vanish()))
    assert until(lambda: last(stack, "/drip/gone"), 40) == "cancelled"
    assert until(lambda: there.broken_off, what="the outside call is stopped")


@pytest.mark.long
def test_a_call_that_dies_with_the_connectors_is_lost_for_the_audit_and_for_its_asker(
    stack: Stack, there: Counterpart
) -> None:
    async def use(asker: Asker) -> tuple[SchleuseError, Any]:
        async with (
            httpx2.AsyncClient(transport=asker.transport(NAME), trust_env=False, timeout=60) as client,
            client.stream("GET", f"{AT}/drip/killed") as streamed,
        ):
            pieces = streamed.aiter_raw()
            await anext(pieces)
            old = await asyncio.to_thread(stack.kill, "connectors")
            with pytest.raises(SchleuseError) as found:
                async for _ in pieces:
                    pass
        await asyncio.to_thread(stack.back, "connectors", old)
        return found.value, await get(asker, "/after")

    error, after = asking(stack, use)
    assert isinstance(error, Transient) and error.code == "answer_lost"
    assert after.status_code == 200
    assert until(lambda: last(stack, "/drip/killed"), 20) == "lost"
