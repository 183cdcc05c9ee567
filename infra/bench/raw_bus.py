"""The raw legs of JetStream: a server of its own beside the measured one, same program, same disk, same fsync, nothing else to do."""

import json
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from uuid import uuid4

import nats
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, StorageType, StreamConfig

from infra.bench.load import bodies
from infra.nats.locate import server
from shared.bus.publish import Outgoing, publish
from shared.errors import Refused

BATCH = 100
STREAM, SUBJECT, DURABLE = "RAW", "raw.event", "reader"
START_SECONDS = 10.0


class Server(NamedTuple):
    """Where it listens, and what it asks for."""

    url: str
    password: str


@contextmanager
def raw_server(beside: Path) -> Iterator[Server]:
    """A server with a folder of its own beside the state: no accounts, no TLS; a password keeps others out."""
    with TemporaryDirectory(prefix="schleuse-raw-", dir=beside) as name:
        folder, password = Path(name), secrets.token_hex(16)
        conf = folder / "nats.conf"
        conf.write_text(
            f'listen: "127.0.0.1:-1"\nports_file_dir: "{folder}"\nauthorization {{ user: raw, password: "{password}" }}\n'
            f'jetstream {{ store_dir: "{folder}/js", sync_interval: always }}\n'
        )
        process = subprocess.Popen(  # noqa: S603 - the server's own program
            [str(server()), "-c", str(conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield Server(_url(folder), password)
        finally:
            process.terminate()
            process.wait(10)


def _url(folder: Path) -> str:
    """Where the server listens, from the file that it writes when it does."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        for found in folder.glob("*.ports"):
            if text := found.read_text():
                return str(json.loads(text)["nats"][0])
        time.sleep(0.02)
    raise Refused("the NATS server of the raw legs did not start")


async def connect(place: Server) -> Client:
    return await nats.connect(place.url, user="raw", password=place.password, pending_size=16 * 1024 * 1024)


async def publish_rate(client: Client, batches: int) -> float:
    """Messages a second in atomic batches of 100, one after another, each synced before it is acknowledged."""
    js = client.jetstream()
    await js.add_stream(
        StreamConfig(name=STREAM, subjects=["raw.>"], storage=StorageType.FILE, allow_atomic=True, duplicate_window=120)
    )
    body = bodies(4, 4, 1)[0]
    rows = [[Outgoing(0, str(uuid4()), SUBJECT, {}, body) for _ in range(BATCH)] for _ in range(batches)]
    began = time.perf_counter()
    for each in rows:
        await publish(client, each)
    return batches * BATCH / (time.perf_counter() - began)


async def fetch_rate(client: Client, batches: int) -> float:
    """Messages a second by fetching 100 and acknowledging each, of those that `publish_rate` left."""
    js = client.jetstream()
    await js.add_consumer(
        STREAM, ConsumerConfig(durable_name=DURABLE, ack_policy=AckPolicy.EXPLICIT, max_ack_pending=2000)
    )
    pull = await js.pull_subscribe_bind(DURABLE, STREAM)
    began = time.perf_counter()
    for _ in range(batches):
        for message in await pull.fetch(BATCH, timeout=10):
            await message.ack()
    await client.flush()
    took = time.perf_counter() - began
    await js.delete_stream(STREAM)
    return batches * BATCH / took
