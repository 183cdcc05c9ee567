"""Writes what the console shows about the whole system: figures every few seconds, the inventory at start, every ten minutes and when somebody asks.

    python -m infra.observe.writer --state DIR

Run and kept running by the supervisor, as the installing user. The console may look into neither /proc nor other databases; it reads DIR/run/report, and says
by touching a file of its own that somebody looks (figures come more often then) or asks for a new inventory.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from pathlib import Path

from infra.local.command import environment
from infra.local.layout import Layout
from infra.observe.crew import Crew
from infra.observe.installation import identities_of, parts_of, pids_of, read_config, runtime_of
from infra.observe.report_files import TOP, asked_at, make_report_folder, watched_at, write_report
from infra.observe.top.sample import Sampler

WATCHED_EVERY, IDLE_EVERY = 2.0, 5.0
"""Seconds between two looks: while somebody looks at the console's page, and otherwise."""
LOOKING = 15.0
INVENTORY_EVERY = 600.0
LEAST_APART = 10.0
"""Seconds between two inventories, however often somebody asks."""
NOT_READY = 60.0
"""Seconds after which the first inventory is taken of a system that is not ready."""
NICE = "10"


def is_due(since: float | None, *, asked: bool, ready: bool, running: float) -> bool:
    """Whether to take an inventory: the first as soon as everything is ready, then by the clock, or when asked. `since` the last one and `running` in seconds."""
    if since is None:
        return ready or running > NOT_READY
    return since > INVENTORY_EVERY or (asked and since > LEAST_APART)


class Writer:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._config = read_config(layout, layout.state)
        self._who = identities_of(self._config)
        self._runtime = runtime_of(layout, pids_of(parts_of(layout)))
        self._sampler = Sampler(layout, self._config, Crew(self._who, self._runtime), IDLE_EVERY)
        self._began = time.monotonic()
        self._taken: float | None = None
        self._taken_at = 0.0
        self._inventory: asyncio.subprocess.Process | None = None
        self._complained = ""

    async def run(self, stopping: asyncio.Event) -> None:
        make_report_folder(self._layout, self._who)
        try:
            while not stopping.is_set():
                every = self._every()
                ready = await self._look(every)
                if self._is_due(ready=ready):
                    await self._take()
                try:
                    async with asyncio.timeout(every):
                        await stopping.wait()
                except TimeoutError:
                    continue
        finally:
            if self._inventory is not None and self._inventory.returncode is None:
                self._inventory.terminate()
            await self._sampler.close()

    def _every(self) -> float:
        return WATCHED_EVERY if time.time() - watched_at(self._layout) < LOOKING else IDLE_EVERY

    async def _look(self, every: float) -> bool:
        sample = await self._sampler.sample()
        try:
            write_report(self._layout, self._who, TOP, sample | {"every": every})
        except OSError as error:
            self._complain(f"{TOP} cannot be written: {error}")
        return bool(sample["ready"])

    def _is_due(self, *, ready: bool) -> bool:
        if self._inventory is not None and self._inventory.returncode is None:
            return False
        at = time.monotonic()
        since = None if self._taken is None else at - self._taken
        return is_due(since, asked=asked_at(self._layout) > self._taken_at, ready=ready, running=at - self._began)

    async def _take(self) -> None:
        """In a process of its own, after everybody else: it needs a second of a core."""
        self._taken, self._taken_at = time.monotonic(), time.time()
        command = ["nice", "-n", NICE, sys.executable, "-m", "infra.observe.grants.take", "--state", str(self._layout.state)]  # fmt: skip
        self._inventory = await asyncio.create_subprocess_exec(*command, env=environment(self._runtime), cwd="/")

    def _complain(self, text: str) -> None:
        """Once for each kind of trouble."""
        if text != self._complained:
            self._complained = text
            sys.stderr.write(f"{text}\n")


async def _main(layout: Layout) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await Writer(layout).run(stopping)


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.observe.writer")
    parser.add_argument("--state", type=Path, required=True)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # its remarks on closed TLS connections say nothing
    logging.getLogger("nats").setLevel(logging.CRITICAL)  # that the bus is away stands in the figures
    os.umask(0o022)
    asyncio.run(_main(Layout(parser.parse_args().state.resolve())))


if __name__ == "__main__":
    main()
