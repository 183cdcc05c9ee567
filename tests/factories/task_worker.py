"""A process that fires tasks and nothing else, to be killed and frozen: `python -m tests.factories.task_worker STATE PART`. Says `fence N` whenever that is another."""

import asyncio
import sys
from pathlib import Path

from shared.db import Database
from shared.settings import Settings
from tests.factories.tasks import Worker


async def work(state: Path, part: str) -> None:
    db = Database(Settings.load("agent", state), pool_size=2)
    await db.start()
    worker, said = Worker(db, part), None
    await worker.start()
    while True:
        if worker.lease.fence != said:
            said = worker.lease.fence
            sys.stdout.write(f"fence {said or 0}\n")
            sys.stdout.flush()
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
