"""An attacker's process: makes attempts as the OS user that it runs as, and says what came of each.

    python -m infra.prove.actor     reads lines {"number", "state": DIR, "attempts": [{"kind": …, …}]}
                                    writes lines {"number", "outcomes": [{"got": …, "detail"?: …, "value"?: …}]} or {"number", "failed": why}

`got` is `done` (the attempt worked), `refused` (in the way it must be), or `error` (something else happened, which proves nothing). Batches are made side by
side; the process ends with its input.
"""

import asyncio
import json
import os
import sys
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from shared.tasks import spawn

KINDS = (
    "bus",
    "chain",
    "connects",
    "doors",
    "files",
    "keys",
    "listening",
    "reference",
    "rows",
    "sockets",
    "sql",
    "watch",
)
LONGEST_LINE = 64 * 1024**2


async def make(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In order; neighbours of one kind are made together."""
    found: list[dict[str, Any]] = []
    for kind, group in groupby(attempts, key=lambda attempt: attempt["kind"]):
        if kind not in KINDS:
            raise ValueError(f"no attempt is called {kind}")
        found += await import_module(f"infra.prove.doing.{kind}").do(state, list(group))
    return found


async def _answer(line: bytes, answers: TextIO) -> None:
    task = json.loads(line)
    said: dict[str, Any] = {"number": task["number"]}
    try:
        said["outcomes"] = await make(Path(task["state"]), task["attempts"])
    except Exception as error:
        said["failed"] = f"{type(error).__name__}: {error}"[:500]
    answers.write(json.dumps(said, default=str) + "\n")
    answers.flush()


async def serve(answers: TextIO) -> None:
    """Until there is no more input."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        task = spawn(_answer(line, answers), name="attempts")
        running.add(task)
        task.add_done_callback(running.discard)
    for task in running:
        task.cancel()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get into the answers
    with answers:
        asyncio.run(serve(answers))


if __name__ == "__main__":
    main()
