"""Makes and updates streams and durables as the catalogue says; an admin identity does it, services cannot."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import NoStreamResponseError, NotFoundError, ServerError, ServiceUnavailableError

from infra.nats.certificate import SERVER_NAME
from infra.nats.config import MAX_PAYLOAD, MAX_STREAM_BYTES
from infra.nats.topology import Durable, Stream, durables, inbox, streams

Where = int | str
"""A server of the bus: its port on this machine, or its whole address (tls://host:port)."""

ACK_WAIT_SECONDS = 10
ACK_WAIT_CLUSTER = 1.2
"""What a killed instance had in hand waits so long for the other; shared.bus.delivery says in time that it still works on it."""
REPLICAS = 3
ELECTION_SECONDS = 30.0
UNHEARD_SECONDS = 2.0
"""What is asked while nobody decides yet gets no answer, ever: ask again after so long."""
MAX_ACK_PENDING = 2000
DUPLICATE_SECONDS = 120


async def provision(port: Where | Sequence[Where], ca: Path, admin_seed: Path) -> None:
    """Idempotent. `port`: several of them are a cluster's, whose streams and durables get three replicas. nats errors pass through."""
    client = await connect(port, ca, admin_seed, "admin")
    replicas = 1 if isinstance(port, int | str) else REPLICAS
    try:
        js = client.jetstream(timeout=20 if replicas == 1 else UNHEARD_SECONDS)
        for stream in streams():
            await _patiently(partial(_stream, js, stream_config(stream, replicas)), replicas)
        for each in durables():
            await _patiently(partial(js.add_consumer, each.stream, consumer_config(each, replicas)), replicas)
    finally:
        await client.close()


async def _patiently(make: Callable[[], Awaitable[Any]], replicas: int) -> None:
    """A cluster answers once it has elected who decides; until then there is nobody, or silence."""
    deadline = asyncio.get_running_loop().time() + ELECTION_SECONDS
    while True:
        try:
            await make()
        except (NoRespondersError, NoStreamResponseError, ServiceUnavailableError, TimeoutError, ServerError) as error:
            if replicas == 1 or asyncio.get_running_loop().time() > deadline:
                raise
            last = error
        else:
            return
        await asyncio.sleep(0.2 if not isinstance(last, TimeoutError) else 0)


async def connect(port: Where | Sequence[Where], ca: Path, seed: Path, name: str) -> Client:
    """A connection that accepts the pinned certificate only; of several ports, the first that answers. nats errors pass through."""
    *others, last = [port] if isinstance(port, int | str) else port
    for each in others:
        try:
            return await _connect(each, ca, seed, name)
        except (NatsError, OSError, TimeoutError):
            continue
    return await _connect(last, ca, seed, name)


async def _connect(port: Where, ca: Path, seed: Path, name: str) -> Client:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_verify_locations(ca)
    return await nats.connect(
        port if isinstance(port, str) else f"tls://{SERVER_NAME}:{port}",
        tls=trust,
        tls_hostname=SERVER_NAME,
        tls_handshake_first=True,  # nats-py would follow a server that says it has no TLS into the clear (S9)
        nkeys_seed=str(seed),
        inbox_prefix=inbox(name).encode(),
        name=name,
        connect_timeout=5,
        allow_reconnect=False,
    )


async def _stream(js: JetStreamContext, wanted: StreamConfig) -> None:
    try:
        await js.stream_info(wanted.name or "")
    except NotFoundError:
        await js.add_stream(wanted)
    else:
        await js.update_stream(wanted)


def stream_config(stream: Stream, replicas: int = 1) -> StreamConfig:
    """Nothing goes by itself: infra.nats.trim removes what all readers have acknowledged, so a full stream means unread events."""
    return StreamConfig(
        name=stream.name,
        subjects=[stream.subject],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_bytes=MAX_STREAM_BYTES,
        max_msg_size=MAX_PAYLOAD,
        max_age=0,
        duplicate_window=DUPLICATE_SECONDS,
        num_replicas=replicas,
        deny_delete=True,
        deny_purge=False,  # the permissions leave it to the admin identity alone
        allow_direct=False,
        allow_atomic=True,
    )


def consumer_config(each: Durable, replicas: int = 1) -> ConsumerConfig:
    """A cluster gives an event soon to another instance when the one that had it was killed."""
    return ConsumerConfig(
        name=each.name,
        durable_name=each.name,
        filter_subjects=list(each.subjects),
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_SECONDS if replicas == 1 else ACK_WAIT_CLUSTER,
        max_deliver=-1,
        max_ack_pending=MAX_ACK_PENDING,
        num_replicas=replicas,
    )
