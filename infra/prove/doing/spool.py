"""How copies of downloads lie, looked at by the agent: {} -> [[name, what is wrong]], then {"copies": [[id, age in seconds]]}. No content is read."""

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from shared.settings import Settings

NEW = ".new-"


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    folder = Settings.load("agent", state).spool
    faults, copies = await asyncio.to_thread(lambda: ([*_faults(folder)], [*_copies(folder)]))
    return [{"got": "done", "value": {"faults": faults, "copies": copies}} for _ in attempts]


def _faults(folder: Path) -> Iterator[list[str]]:
    group = folder.stat().st_gid
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):  # what is made or goes in this very moment
            fault = _fault(entry.name, entry.stat(follow_symlinks=False), group)
            if fault:
                yield [entry.name, fault]


def _fault(name: str, facts: os.stat_result, group: int) -> str:
    if not stat.S_ISREG(facts.st_mode):
        return "is no plain file"
    if facts.st_uid != os.geteuid() or facts.st_gid != group:
        return f"belongs to {facts.st_uid}:{facts.st_gid}"
    if facts.st_nlink > 1:
        return "has another name elsewhere"
    wanted = (0o600, 0o640) if name.startswith(NEW) else (0o640,)
    if stat.S_IMODE(facts.st_mode) not in wanted:
        return f"is open: {stat.S_IMODE(facts.st_mode):o}"
    return "" if name.startswith(NEW) or _id(name) else "is no copy of ours"


def _copies(folder: Path) -> Iterator[list[Any]]:
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):
            if _id(entry.name):
                yield [entry.name, time.time() - entry.stat(follow_symlinks=False).st_ctime]


def _id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
