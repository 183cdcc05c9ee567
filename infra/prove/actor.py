"""An attacker's process: makes attempts as the OS user that it runs as, and says what came of each.

    python -m infra.prove.actor < {"state": DIR, "attempts": [{"kind": …, …}]}     writes [{"got": …, "detail"?: …, "value"?: …}]

`got` is `done` (the attempt worked), `refused` (in the way it must be), or `error` (something else happened, which proves nothing).
"""

import asyncio
import json
import os
import sys
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

KINDS = ("bus", "chain", "connects", "doors", "files", "keys", "reference", "rows", "sockets", "sql", "watch")


async def run(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In order; neighbours of one kind are made together."""
    found: list[dict[str, Any]] = []
    for kind, group in groupby(attempts, key=lambda attempt: attempt["kind"]):
        if kind not in KINDS:
            raise ValueError(f"no attempt is called {kind}")
        found += await import_module(f"infra.prove.doing.{kind}").do(state, list(group))
    return found


def main() -> None:
    task = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get into the answer
    with answer:
        json.dump(asyncio.run(run(Path(task["state"]), task["attempts"])), answer, default=str)


if __name__ == "__main__":
    main()
