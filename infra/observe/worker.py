"""A process that does tasks as the OS user that it runs as: reads what only that user can read.

    python -m infra.observe.worker     reads lines {"number", "state": DIR, "attempts": [{"kind": …, …}]}
                                       writes lines {"number", "outcomes": [{"got": …, "detail"?: …, "value"?: …}]} or {"number", "failed": why}

Batches are made side by side; the process ends with its input. `schleuse prove` runs its attackers in the same way (infra.prove.actor).
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from shared.tasks import spawn

KINDS: dict[str, str] = {kind: f"infra.observe.doing.{kind}" for kind in ("declared", "listening", "pulse", "rows")}
"""Kind -> the module whose `do` does it."""
LONGEST_LINE = 64 * 1024**2


async def make(kinds: Mapping[str, str], state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In order; neighbours of one kind are made together."""
    found: list[dict[str, Any]] = []
    for kind, group in groupby(attempts, key=lambda attempt: attempt["kind"]):
        if kind not in kinds:
            raise ValueError(f"no task is called {kind}")
        found += await import_module(kinds[kind]).do(state, list(group))
    return found


async def _answer(kinds: Mapping[str, str], line: bytes, answers: TextIO) -> None:
    task = json.loads(line)
    said: dict[str, Any] = {"number": task["number"]}
    try:
        said["outcomes"] = await make(kinds, Path(task["state"]), task["attempts"])
    except Exception as error:
        said["failed"] = f"{type(error).__name__}: {error}"[:500]
    answers.write(json.dumps(said, default=str) + "\n")
    answers.flush()


async def serve(kinds: Mapping[str, str], answers: TextIO) -> None:
    """Until there is no more input."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        task = spawn(_answer(kinds, line, answers), name="tasks")
        running.add(task)
        task.add_done_callback(running.discard)
    for task in running:
        task.cancel()


def main(kinds: Mapping[str, str]) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get into the answers
    with answers:
        asyncio.run(serve(kinds, answers))


if __name__ == "__main__":
    main(KINDS)
