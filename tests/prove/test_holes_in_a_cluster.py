"""Holes that only a cluster can have: a stranger among the bus's servers, a process beside a service on the port its instances share."""

import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.keys import bus_users
from infra.local.prepare import bus_place
from infra.nats import certificate
from infra.nats.config import Place, Routes, render
from infra.observe.processes import addresses_of
from infra.prove.areas.bus_server import check_server
from infra.prove.areas.cluster import check, check_members, check_ports
from infra.prove.areas.files import check as check_files
from infra.prove.check import Book, Check
from infra.prove.target import Target
from shared.testing.servers import short_folder
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.planting import failures, rows

pytestmark = pytest.mark.stack
BESIDE = """
import socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
door.bind((host, int(port)))
door.listen()
print("listening", flush=True)
time.sleep(60)
"""


async def whole(target: Target, book: Book) -> None:
    for area in (check, check_files):
        book.checks += await area(target)
    await check_server(target, book)


def faults(stack: Stack, examine: object) -> list[Check]:
    return failures(rows(examine, Target.load(stack.state)))  # type: ignore[arg-type]


@pytest.mark.long
def test_a_cluster_that_is_as_designed_passes(cluster: Stack) -> None:
    left = faults(cluster, whole)
    assert not left, [str(each) for each in left][:10]


def test_a_stranger_cannot_join_and_one_with_the_key_is_seen(cluster: Stack) -> None:
    """A server with a certificate of its own stays outside; one that was given the bus's key is named."""
    folder = short_folder("stranger")
    outside = stranger(cluster, folder, own_certificate=True)
    with running(cluster, outside, "site"):
        until(lambda: "route" in log_of(outside).lower() or "TLS" in log_of(outside), 10, "it tries to join", 0.1)
        assert not faults(cluster, check_members), "it is no member"
    inside = stranger(cluster, folder, own_certificate=False)
    with running(cluster, inside, "nats"):
        until(lambda: faults(cluster, check_members), 20, "it is seen", 0.2)
        [found] = faults(cluster, check_members)
        assert "stranger" in found.got
    until(lambda: not faults(cluster, check_members), 20, "it is gone", 0.2)


def test_a_process_of_the_service_s_own_user_beside_it_is_seen(cluster: Stack) -> None:
    """The kernel lets only the same OS user share a port; who could run as that user is named."""
    target = Target.load(cluster.state)
    [place] = addresses_of(target.config, "site")
    command = as_user(identities.resolve(), "site", [str(cluster.runtime.python), "-c", BESIDE, place])
    where = environment(cluster.runtime)
    with subprocess.Popen(command, cwd="/", env=where, stdout=subprocess.PIPE, text=True) as beside:
        try:
            assert beside.stdout is not None
            assert beside.stdout.readline() == "listening\n"
            [found, *_] = faults(cluster, check_ports)
            assert f"process {beside.pid}" in found.got
        finally:
            beside.kill()
    assert not faults(cluster, check_ports)


def stranger(stack: Stack, folder: Path, *, own_certificate: bool) -> Path:
    """The configuration of a fourth server that wants to be one of them."""
    target = Target.load(stack.state)
    config, layout = target.config, stack.layout
    place = bus_place(layout, config, "nats")
    files = (place.certificate, place.key)
    if own_certificate:
        public, private = certificate.make()
        files = (folder / "own.pem", folder / "own.key")
        files[0].write_text(public)
        files[1].write_text(private)
        files[1].chmod(0o644)
    base = config.port_base + 12
    peers = tuple(f"127.0.0.1:{config.ports[f'{part}-route']}" for part in ("nats", "nats-2", "nats-3"))
    store = folder / ("outside" if own_certificate else "inside")
    store.mkdir(mode=0o777)
    store.chmod(0o777)
    there = Place(base, store, *files, name="stranger", routes=Routes(base + 1, peers))
    conf = folder / f"{store.name}.conf"
    conf.write_text(render(replace(there), bus_users(layout, cluster=True)))
    return conf


def running(stack: Stack, conf: Path, user: str) -> "Server":
    return Server(stack, conf, user)


def log_of(conf: Path) -> str:
    return conf.with_suffix(".log").read_text()


class Server:
    """A nats-server of its own, run as one of the OS users."""

    def __init__(self, stack: Stack, conf: Path, user: str) -> None:
        runtime = stack.runtime
        self._command = as_user(identities.resolve(), user, [str(runtime.nats), "-c", str(conf)])
        self._environment, self._log = environment(runtime), conf.with_suffix(".log")

    def __enter__(self) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, cwd="/", env=self._environment, stdout=log, stderr=log)

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
