"""The health check of a container: whether its part answers; also writes anew what the container is.

python -m infra.docker.healthy PART     exit code 0 or 1
"""

import asyncio
import re
import sys
import time
from pathlib import Path

from infra.docker import facts
from infra.docker.enter import SERVICES, STATE, run_folder
from infra.local import readiness

KEEPER_SECONDS = 60.0
PROVISIONED = "provisioned"
"""In the run folder of Postgres and keeper: what they provide is complete, as of the file's time."""


async def healthy(part: str) -> bool:
    folder = run_folder(part)
    if part in (*SERVICES, "apps"):
        return await readiness.service(folder / "health.sock")
    if part == "postgres":
        return (folder / PROVISIONED).exists() and await readiness.postgres_listens(folder)
    if part == "nats":
        return _nats_listens()
    return _age(folder / PROVISIONED) < KEEPER_SECONDS


def _nats_listens() -> bool:
    """A greeting without a session would leave a line in its log each time; that it listens is seen without asking."""
    wanted = re.search(r'^listen: "([^"]+)"', (STATE / "nats" / "nats.conf").read_text(), re.M)
    return wanted is not None and wanted.group(1) in facts.gather()["listens"]


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def main() -> None:
    part = sys.argv[1]
    facts.write(run_folder(part), facts.gather())
    raise SystemExit(0 if asyncio.run(healthy(part)) else 1)


if __name__ == "__main__":
    main()
