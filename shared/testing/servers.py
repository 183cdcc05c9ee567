"""A real Postgres and a real NATS server with everything provisioned, and no services: for tests of parts.

Started by root, the servers run as their own OS users (Postgres refuses root) and `root` may be any role through the ident map, so a test process can
act as every service. That is dev mode: separation between OS users is off here. The `stack` fixture is the real root mode.
"""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from infra.local import readiness
from infra.local.command import as_user, environment
from infra.local.identities import Identities, as_one_user, servers_only
from infra.local.layout import Layout
from infra.local.prepare import Prepared, prepare, settle
from infra.nats.provision import provision as provision_bus
from shared.settings import Settings

START_SECONDS = 30.0
T = TypeVar("T")
_LOCKS: list[int] = []
"""What says which ports are ours; held by being open."""


@dataclass
class Servers:
    """Both servers of one temporary state directory. `processes` are the running ones by part."""

    prepared: Prepared
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.prepared.layout.state

    @property
    def layout(self) -> Layout:
        return self.prepared.layout

    def settings(self, service: str) -> Settings:
        return Settings.load(service, self.state)

    def start_postgres(self) -> None:
        """Start the server and provision; returns when it takes connections."""
        python = str(self.prepared.runtime.python)
        self._start("postgres", "pgadm", [python, "-m", "infra.postgres.launch", "--state", str(self.state)])
        self._await("postgres", lambda: readiness.postgres(self.layout.pg_socket_dir))
        self.provision_postgres()

    def provision_postgres(self) -> None:
        """Run provisioning once more, as a start does. RuntimeError when the self-check fails."""
        command = [str(self.prepared.runtime.python), "-m", "infra.postgres.provision", "--state", str(self.state)]
        self.run_as("pgadm", command)

    def start_nats(self) -> None:
        self._start("nats", "nats", [str(self.prepared.runtime.nats), "-c", str(self.layout.nats_conf)])
        port = self.prepared.config.ports["nats"]
        self._await("nats", lambda: readiness.nats(port))
        _complete(provision_bus(port, self.layout.tls / "ca.pem", self.layout.admin_seed))

    def kill(self, part: str) -> None:
        """kill -9, as the kernel would."""
        process = self.processes.pop(part)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for part in ("nats", "postgres"):
            if process := self.processes.pop(part, None):
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def run_as(self, user: str, command: list[str]) -> str:
        """Standard output of a command run as that user; RuntimeError with its standard error when it fails."""
        runtime, wrapped = self.prepared.runtime, as_user(self.prepared.who, user, command)
        done = subprocess.run(  # noqa: S603 - our own modules
            wrapped, cwd=runtime.code, env=environment(runtime), check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[1:3])}: {done.stderr.strip()}")
        return done.stdout

    def _start(self, part: str, user: str, command: list[str]) -> None:
        runtime = self.prepared.runtime
        with (self.layout.logs / f"{part}.log").open("ab") as log:
            self.processes[part] = subprocess.Popen(  # noqa: S603 - our own modules
                as_user(self.prepared.who, user, command, death_signal="KILL"),
                cwd=runtime.code, env=environment(runtime), stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def _await(self, part: str, probe: readiness.Probe) -> None:
        if not _complete(readiness.until(probe, START_SECONDS)):
            log = (self.layout.logs / f"{part}.log").read_text()
            raise RuntimeError(f"{part} did not start: {log[-2000:]}")


def _complete(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own, so that tests may call this with or without a running loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def new_servers(state: Path, port_base: int) -> Servers:
    """Everything prepared in `state`, nothing started."""
    who: Identities = servers_only() if os.getuid() == 0 else as_one_user()
    return Servers(prepare(settle(state, who), who, port_base, lambda _: None))


@contextmanager
def running(port_base: int | None = None) -> Iterator[Servers]:
    """Both servers, started in about two seconds, and gone afterwards with all their files."""
    state = short_folder("parts")
    servers = new_servers(state, port_base or free_port_base())
    try:
        servers.start_postgres()
        servers.start_nats()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(state, ignore_errors=True)


def short_folder(name: str) -> Path:
    """A new folder under /tmp (socket paths are short), which other OS users may enter."""
    path = Path(tempfile.mkdtemp(prefix=f"schleuse-{name}-", dir="/tmp"))
    path.chmod(0o755)
    return path


def free_port_base() -> int:
    """A base whose ports are free, and which no run beside this one has been given: who asks binds them a little later."""
    start = 21000 + os.getpid() * 16 % 9000
    for base in range(start, start + 9000, 16):
        if all(_free(base + offset) for offset in range(16)) and _taken(base):
            return base
    raise RuntimeError("no free ports")


def _taken(base: int) -> bool:
    """Ours until this process ends; False when it is another's."""
    folder = Path(tempfile.gettempdir()) / f"schleuse-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(folder / str(base), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    _LOCKS.append(lock)
    return True


def _free(port: int) -> bool:
    with socket.socket() as probe, suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return True
    return False
