"""How the workspaces lie, looked at by their owner: {} -> [[path below the folder, what is wrong]]. No content is read."""

import asyncio
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from shared.settings import Settings

_HOME = re.compile(r"user-([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|x[0-9a-f]{64})")


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    root = Settings.load("agent", state).workspace
    found = await asyncio.to_thread(lambda: [*_look(root, root)] if root.is_dir() else [[".", "is missing"]])
    return [{"got": "done", "value": found} for _ in attempts]


def _look(root: Path, folder: Path) -> Iterator[list[str]]:
    with suppress(FileNotFoundError):  # what is written or deleted in this very moment
        for entry in os.scandir(folder):
            path, facts = Path(entry.path), entry.stat(follow_symlinks=False)
            fault = _fault(facts)
            if folder == root and not fault and not (stat.S_ISDIR(facts.st_mode) and _HOME.fullmatch(entry.name)):
                fault = "is nobody's workspace"
            if fault:
                yield [str(path.relative_to(root)), fault]
            elif stat.S_ISDIR(facts.st_mode):
                yield from _look(root, path)


def _fault(facts: os.stat_result) -> str:
    is_folder, mode = stat.S_ISDIR(facts.st_mode), stat.S_IMODE(facts.st_mode)
    if not is_folder and not stat.S_ISREG(facts.st_mode):
        return "is a link" if stat.S_ISLNK(facts.st_mode) else "is neither file nor folder"
    if facts.st_uid != os.geteuid():
        return f"belongs to user {facts.st_uid}"
    if mode & 0o7077:
        return f"is open: {mode:o}"
    return "has another name elsewhere" if not is_folder and facts.st_nlink > 1 else ""
