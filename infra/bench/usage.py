"""CPU and memory of processes, from /proc: a rate says little on a shared machine without the CPU that it had."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_CPU_FIELDS = slice(11, 15)
"""utime, stime and those of children that ended, counted after the command's closing bracket."""


@dataclass(frozen=True)
class Usage:
    """What a piece of work cost. `cpu`: seconds by part; `idle`: share of the machine's time that nobody used."""

    wall: float
    cpu: dict[str, float]
    idle: float

    def shown(self) -> dict[str, float]:
        """For the report: seconds, CPU seconds of ours, how many cores that was, and the machine's idle share."""
        total = sum(self.cpu.values())
        own = {name: round(seconds, 2) for name, seconds in self.cpu.items() if seconds >= 0.01}
        return {
            "wall_s": round(self.wall, 2),
            "cpu_s": round(total, 2),
            "cores": round(total / self.wall, 2),
            "machine_idle": round(self.idle, 2),
        } | {f"cpu_{name}_s": seconds for name, seconds in own.items()}


class Meter:
    """Counts from its making on. `pids`: the first process of each part; what it started counts with it."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids) | {"bench": os.getpid()}
        self._began = time.perf_counter()
        self._cpu = self._read()
        self._machine = _machine()

    def read(self) -> Usage:
        wall = time.perf_counter() - self._began
        cpu = {name: max(0.0, seconds - self._cpu[name]) for name, seconds in self._read().items()}
        idle, total = (now - then for now, then in zip(_machine(), self._machine, strict=True))
        return Usage(wall, cpu, idle / total if total else 0.0)

    def _read(self) -> dict[str, float]:
        children = _children()
        own = {name: cpu_seconds(_family(pid, children)) for name, pid in self._pids.items() if name != "bench"}
        return own | {"bench": time.process_time()}


def cpu_seconds(pids: Iterable[int]) -> float:
    return sum(sum(map(int, _stat(pid)[_CPU_FIELDS])) for pid in pids) / _TICK


def rss_mb(pids: Iterable[int]) -> float:
    """Resident memory of processes and all they started, in MB of 1,048,576 bytes."""
    children = _children()
    return sum(_rss(each) for pid in pids for each in _family(pid, children)) / 1024


def _rss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command; zeros when the process has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ["0"] * 50


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            found.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    return found


def children_of(pid: int) -> list[int]:
    return _children().get(pid, [])


def _family(pid: int, children: Mapping[int, list[int]]) -> list[int]:
    return [pid, *(each for child in children.get(pid, []) for each in _family(child, children))]


def _machine() -> tuple[int, int]:
    """Ticks that no work used (waiting for the disk is no work), and all ticks."""
    fields = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return fields[3] + fields[4], sum(fields)
