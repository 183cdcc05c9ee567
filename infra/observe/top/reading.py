"""Where the figures come from: /proc, health sockets, the bus, Postgres, the disk. What cannot be had is None, never 0 (rule 30)."""

import json
import os
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from infra.local.layout import Layout
from shared.clock import now

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
ESTABLISHED = "01"


@dataclass(frozen=True)
class Usage:
    """Of a process and its children: seconds of CPU since they began, bytes resident (shared pages counted in each)."""

    cpu: float
    rss: int


def family(pid: int) -> list[int]:
    """The process and everything below it."""
    found, waiting = [], [pid]
    while waiting:
        each = waiting.pop()
        found.append(each)
        try:
            text = Path(f"/proc/{each}/task/{each}/children").read_text()
        except OSError:
            continue
        waiting += [int(child) for child in text.split()]
    return found


def usage(pids: list[int]) -> Usage | None:
    """None when none of them is there."""
    cpu, rss, seen = 0, 0, False
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        seen = True
        cpu += int(fields[11]) + int(fields[12])
        rss += int(fields[21]) * PAGE
    return Usage(cpu / TICKS, rss) if seen else None


def proportional(pids: list[int]) -> int | None:
    """Bytes, each shared page divided among those who share it. None where the kernel does not let us look."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except FileNotFoundError:
            continue
        except OSError:
            return None
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total or None


def connections_to(ports: list[int], uids: set[int]) -> dict[int, int]:
    """Established TCP connections to these ports of this machine, by the OS user that opened them."""
    found = dict.fromkeys(uids, 0)
    wanted = {f"{port:04X}" for port in ports}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == ESTABLISHED and fields[2].rpartition(":")[2] in wanted and int(fields[7]) in found:
            found[int(fields[7])] += 1
    return found


def disk(layout: Layout) -> dict[str, int]:
    found = shutil.disk_usage(layout.state)
    return {"free": found.free, "total": found.total}


def backup_age(layout: Layout) -> float | None:
    """Seconds since the newest backup that this installation knows of."""
    try:
        times = [datetime.fromisoformat(each["at"]) for each in json.loads(layout.backups.read_text())]
        return max(0.0, min((now() - at).total_seconds() for at in times)) if times else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def handled(figures: dict[str, Any]) -> int | None:
    """Events that a service took in since it started."""
    counts = [value for name, value in figures.items() if name.startswith("intake_") and name.endswith("_handled")]
    return sum(counts) if figures else None
