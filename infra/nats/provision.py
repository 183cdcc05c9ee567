"""Makes and updates streams and durables as the catalogue says; an admin identity does it, services cannot."""

import ssl
from pathlib import Path

import nats
from nats.aio.client import Client
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
from nats.js.errors import NotFoundError

from infra.nats.certificate import SERVER_NAME
from infra.nats.config import MAX_PAYLOAD, MAX_STREAM_BYTES
from infra.nats.topology import Durable, Stream, durables, inbox, streams

ACK_WAIT_SECONDS = 10
MAX_ACK_PENDING = 2000
DUPLICATE_SECONDS = 120


async def provision(port: int, ca: Path, admin_seed: Path) -> None:
    """Idempotent. nats errors pass through."""
    client = await connect(port, ca, admin_seed, "admin")
    try:
        js = client.jetstream(timeout=20)
        for stream in streams():
            await _stream(js, stream)
        for each in durables():
            await js.add_consumer(each.stream, consumer_config(each))
    finally:
        await client.close()


async def connect(port: int, ca: Path, seed: Path, name: str) -> Client:
    """A connection that accepts the pinned certificate only."""
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_verify_locations(ca)
    return await nats.connect(
        f"tls://{SERVER_NAME}:{port}",
        tls=trust,
        tls_hostname=SERVER_NAME,
        tls_handshake_first=True,  # nats-py would follow a server that says it has no TLS into the clear (S9)
        nkeys_seed=str(seed),
        inbox_prefix=inbox(name).encode(),
        name=name,
        connect_timeout=5,
        allow_reconnect=False,
    )


async def _stream(js: JetStreamContext, stream: Stream) -> None:
    try:
        await js.stream_info(stream.name)
    except NotFoundError:
        await js.add_stream(stream_config(stream))
    else:
        await js.update_stream(stream_config(stream))


def stream_config(stream: Stream) -> StreamConfig:
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
        num_replicas=1,
        deny_delete=True,
        deny_purge=False,  # the permissions leave it to the admin identity alone
        allow_direct=False,
        allow_atomic=True,
    )


def consumer_config(each: Durable) -> ConsumerConfig:
    return ConsumerConfig(
        name=each.name,
        durable_name=each.name,
        filter_subjects=list(each.subjects),
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_SECONDS,
        max_deliver=-1,
        max_ack_pending=MAX_ACK_PENDING,
    )
