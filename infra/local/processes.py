"""Who is running: what the supervisor writes down about its processes, and ending those that outlived it.

A process is recognised by its id, its start time and the state directory in its command line, so that a reused process id is never signalled.
"""

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.local import folders
from infra.local.layout import Layout

GRACE_SECONDS = 6.0


@dataclass(frozen=True)
class Record:
    part: str
    pid: int
    started: int
    """Clock ticks after boot, as /proc says."""


def record_of(part: str, pid: int) -> Record | None:
    """None when the process is already gone."""
    started = start_time(pid)
    return None if started is None else Record(part, pid, started)


def write(layout: Layout, records: list[Record]) -> None:
    folders.write(layout.processes, json.dumps([asdict(record) for record in records]), 0o644)


def read(layout: Layout) -> list[Record]:
    try:
        return [Record(**each) for each in json.loads(layout.processes.read_text())]
    except (FileNotFoundError, ValueError, TypeError):
        return []


def start_time(pid: int) -> int | None:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if after_name[0] == "Z" else int(after_name[19])


def alive(layout: Layout, record: Record) -> bool:
    """Whether it is still that very process."""
    if start_time(record.pid) != record.started:
        return False
    try:
        return os.fsencode(layout.state) in Path(f"/proc/{record.pid}/cmdline").read_bytes()
    except OSError:
        return False


def end_left_behind(layout: Layout) -> list[str]:
    """End what a killed supervisor left running; the names of those parts. Call it with the lock held."""
    left = [record for record in read(layout) if alive(layout, record)]
    for record in left:
        _signal(record.pid, signal.SIGINT if record.part == "postgres" else signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while any(alive(layout, record) for record in left) and time.monotonic() < deadline:
        time.sleep(0.05)
    for record in left:
        if alive(layout, record):
            _signal(record.pid, signal.SIGQUIT if record.part == "postgres" else signal.SIGKILL)
    return [record.part for record in left]


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
