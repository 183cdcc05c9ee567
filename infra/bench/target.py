"""The stack that is measured: a throwaway one of its own, or one that runs already."""

import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from infra.local import config, control, place
from infra.local.detached import launch
from infra.local.instances import base_of, is_service
from infra.local.layout import Layout
from infra.local.report import report
from shared.errors import Refused, Transient

FIRST_PORT = 9600
PORTS = len((*config.FRONT_PORTS, *config.CLUSTER_PORTS))
STOP_SECONDS = 20.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """A running stack. `own`: made for this run, so that its services may be stopped for a moment."""

    layout: Layout
    config: config.Config
    pids: dict[str, int]
    own: bool

    @property
    def site(self) -> tuple[str, int]:
        return "127.0.0.1", self.config.ports["site"]

    @property
    def ingest_token(self) -> str:
        return self.layout.ingest_token.read_text().strip()

    @property
    def services(self) -> dict[str, int]:
        return {part: pid for part, pid in self.pids.items() if is_service(part)}

    def instances(self, service: str) -> list[int]:
        """Process ids: one, or two in a cluster."""
        return [pid for part, pid in self.pids.items() if base_of(part) == service]


def running_at(state: Path, *, own: bool) -> Target:
    """Refused when not everything runs there."""
    layout = Layout(state.resolve())
    found, installed = report(state), config.read(layout)
    if not found["ready"] or installed is None:
        raise Refused(f"not everything is ready in {state}; see `schleuse status --state {state}`")
    parts = found["services"] | found["servers"]
    return Target(layout, installed, {name: part["pid"] for name, part in parts.items()}, own)


@contextmanager
def throwaway(say: Say, *, cluster: bool = False) -> Iterator[Target]:
    """A stack in a folder of its own, gone afterwards with all its data."""
    folder = Path(tempfile.mkdtemp(prefix="schleuse-bench-", dir="/tmp"))
    folder.chmod(0o755)
    state = folder / "state"
    say(f"starting a stack of its own in {state}")
    try:
        for event in launch(state, free_ports(), cluster=cluster):
            if event["kind"] == "failed":
                raise Refused(f"the stack did not start: {event['text']}")
        yield running_at(state, own=True)
    finally:
        _stop(Layout(state.resolve()))
        shutil.rmtree(state.resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def _stop(layout: Layout) -> None:
    with suppress(Transient):
        control.ask(layout, "stop")
    deadline = time.monotonic() + STOP_SECONDS
    while layout.state.exists() and place.held(layout) and time.monotonic() < deadline:
        time.sleep(0.1)


def free_ports() -> int:
    for base in range(FIRST_PORT, FIRST_PORT + 2000, PORTS + 1):
        if all(_is_free(base + offset) for offset in range(PORTS)):
            return base
    raise Refused("there are no free ports for a stack of its own")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False
