"""The raw legs of JetStream: a second server with the very configuration of the measured one (accounts, TLS, fsync), on the
same disk and with nothing else to do."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from nats.aio.client import Client

from infra.bench.target import Target
from infra.local.keys import bus_users
from infra.nats.config import Place, render
from infra.nats.locate import server
from infra.nats.provision import connect, provision
from schemas.catalogue import BY_NAME, durable, from_stream, from_subject
from shared.bus.publish import Outgoing, publish
from shared.bus.pull import Pull
from shared.errors import Refused

BATCH = 100
BODY = b"x" * 690
"""As long as the envelope of one signal."""
EVENT = BY_NAME["signals.recorded"]
START_SECONDS = 10.0


@dataclass(frozen=True)
class RawBus:
    """A server of its own. `client` connects to it as one of the services."""

    target: Target
    port: int

    async def client(self, service: str) -> Client:
        layout = self.target.layout
        return await connect(self.port, layout.tls / "ca.pem", layout.keys / service / "bus.nk", service)


@contextmanager
def raw_bus(target: Target) -> Iterator[RawBus]:
    """Started, not provisioned; gone afterwards with what it stored."""
    layout = target.layout
    with TemporaryDirectory(prefix="schleuse-raw-", dir=layout.state.parent) as name:
        bus, conf = RawBus(target, _free_port()), Path(name) / "nats.conf"
        place = Place(bus.port, Path(name) / "js", layout.tls / "ca.pem", layout.tls / "nats.key")
        conf.write_text(render(place, bus_users(layout)))
        process = subprocess.Popen(  # noqa: S603 - the server's own program
            [str(server()), "-c", str(conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _await_port(bus.port)
            yield bus
        finally:
            process.terminate()
            process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise Refused("the NATS server of the raw legs did not start")


async def publish_rate(bus: RawBus, batches: int) -> float:
    """Messages a second in atomic batches of 100, one after another, each synced before it is acknowledged."""
    layout = bus.target.layout
    await provision(bus.port, layout.tls / "ca.pem", layout.admin_seed)
    client = await bus.client(EVENT.owner)
    subject = from_subject(EVENT.owner, EVENT.name)
    rows = [[Outgoing(0, str(uuid4()), subject, {}, BODY) for _ in range(BATCH)] for _ in range(batches)]
    began = time.perf_counter()
    for each in rows:
        await publish(client, each)
    took = time.perf_counter() - began
    await client.close()
    return batches * BATCH / took


async def fetch_rate(bus: RawBus, batches: int) -> float:
    """Messages a second by fetching 100 and acknowledging each, of those that `publish_rate` left."""
    client = await bus.client("bridge")
    pull = Pull(client, "bridge", from_stream(EVENT.owner), durable("bridge", EVENT.lane), BATCH)
    await pull.start()
    left = batches * BATCH
    began = time.perf_counter()
    while left > 0:
        found = await pull.next()
        for message in found:
            await client.publish(message.reply, b"+ACK")
        left -= len(found)
    await client.flush()
    took = time.perf_counter() - began
    await client.close()
    return batches * BATCH / took
