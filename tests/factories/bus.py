"""The bus as one service's account sees it, with its real key."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import nats
import nats.errors
from nats.aio.client import Client

from shared.bus.connection import pinned
from shared.settings import Settings
from tests.factories.stack import Stack


async def connect(stack: Stack, service: str) -> Client:
    settings = Settings.load(service, stack.state)

    async def quiet(_: Exception) -> None:
        """What the server refuses shows in the missing answer."""

    return await nats.connect(
        settings.nats_urls,
        tls=pinned(settings),
        tls_hostname="localhost",
        tls_handshake_first=True,
        nkeys_seed=str(settings.bus_seed),
        inbox_prefix=f"_INBOX_{service}".encode(),
        allow_reconnect=False,
        error_cb=quiet,
    )


def publish(stack: Stack, service: str, subject: str, body: bytes) -> None:
    """One message into a stream, acknowledged by JetStream."""
    publish_all(stack, service, subject, [body])


def publish_all(stack: Stack, service: str, subject: str, bodies: Sequence[bytes]) -> None:
    asyncio.run(_publish(stack, service, subject, bodies))


async def _publish(stack: Stack, service: str, subject: str, bodies: Sequence[bytes]) -> None:
    client = await connect(stack, service)
    try:
        for body in bodies:
            answer = await client.request(subject, body, timeout=60, headers={"Nats-Msg-Id": str(uuid4())})
            assert b'"error"' not in answer.data, answer.data
    finally:
        with suppress(nats.errors.Error):
            await client.close()


def request(stack: Stack, service: str, subject: str, body: bytes = b"") -> Any:
    """The answer, or the error that the client raised."""

    async def ask() -> Any:
        client = await connect(stack, service)
        try:
            return (await client.request(subject, body, timeout=2)).data
        except (nats.errors.Error, TimeoutError) as error:
            return error
        finally:
            with suppress(nats.errors.Error):
                await client.close()

    return asyncio.run(ask())
