"""What a benchmark of calls needs: the other side, a connector that leads there, a person's word for it, and an asker with the agent's own key."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from infra.bench.target import Target
from shared.asking.asker import Asker
from shared.bus.connection import Connection
from shared.errors import Refused, SchleuseError
from shared.health import Health
from shared.operator import acall
from shared.settings import Settings

NAME = "bench"
WITHIN = 20.0
"""Seconds until a declaration or a decision is in force."""


@asynccontextmanager
async def answerer() -> AsyncIterator[str]:
    """The base address of a running other side."""
    command = (sys.executable, "-m", "infra.bench.answerer")
    process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None, "it is piped"
    try:
        async with asyncio.timeout(WITHIN):
            port = (await process.stdout.readline()).decode().strip()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def asker(target: Target, service: str = "agent") -> AsyncIterator[Asker]:
    """With the real key of that service, on a connection of its own."""
    settings = Settings.load(service, target.layout.state)
    connection = Connection(settings, Health(NAME))
    found = Asker(service, connection)
    await connection.start()
    await found.start()
    try:
        yield found
    finally:
        await found.stop()
        await connection.stop()


async def allow(target: Target, asking: Asker, base: str) -> None:
    """A connector that leads to `base`, and the agent may get from it."""
    settings = {"base": base, "addresses": ["127.0.0.1"], "methods": ["GET"], "per_minute": 100_000, "retries": 0}
    await acall(
        target.layout.state,
        "console",
        "connectors.declare",
        {"name": NAME, "kind": "http", "settings": settings, "reason": "a benchmark"},
    )
    await _granted(target, asking)


async def _granted(target: Target, asking: Asker) -> None:
    async with httpx2.AsyncClient(transport=asking.transport(NAME), trust_env=False) as client, asyncio.timeout(WITHIN):
        while True:
            try:
                answer = await client.get(f"https://{NAME}.connector/plain")
            except SchleuseError as error:
                if error.code not in ("card_pending", "connector_unknown"):
                    raise
                await _decide(target)
                await asyncio.sleep(0.2)
                continue
            if answer.status_code != 200:
                raise Refused(f"the benchmark's own server was answered with {answer.status_code}")
            return


async def _decide(target: Target) -> None:
    """What waits for this connector is allowed."""
    state = target.layout.state
    for card in (await acall(state, "console", "cards.list"))["cards"]:
        if card["state"] == "pending" and card["connector"] == NAME:
            said = {"card": card["card_id"], "verdict": "allow", "reason": "a benchmark"}
            await acall(state, "console", "cards.decide", said)
