"""The keeper container: what the supervisor does for the bus without containers. Makes streams and durables, then keeps trimming.

It holds the admin identity of the bus and nothing else: no database, no other key, no way out.
"""

import asyncio
import contextlib
import logging
import signal
import sys
from pathlib import Path

import nats.errors

from infra.docker.enter import STATE, run_folder
from infra.docker.healthy import PROVISIONED
from infra.nats.provision import provision
from infra.nats.trim import keep_trimming
from shared.settings import Settings

EVERY = 20.0
AGAIN = 1.0
CA = STATE / "public" / "ca.pem"
SEED = STATE / "keys" / "keeper" / "bus.nk"


async def keep(mark: Path) -> None:
    """Until cancelled. The mark's time says when the bus was last as it must be."""
    servers = Settings.load("bridge", STATE).nats_urls
    where = servers[0] if len(servers) == 1 else servers
    while True:
        try:
            await provision(where, CA, SEED)
            break
        except (nats.errors.Error, OSError, TimeoutError) as error:
            sys.stderr.write(f"schleuse: the bus is not ready: {error}\n")
            await asyncio.sleep(AGAIN)
    _touch(mark)
    trimming = asyncio.create_task(keep_trimming(where, CA, SEED))
    try:
        while not trimming.done():
            await asyncio.sleep(EVERY)
            _touch(mark)
    finally:
        trimming.cancel()


def _touch(mark: Path) -> None:
    mark.touch(mode=0o644)


async def run() -> None:
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on every closed TLS connection says nothing
    mark = run_folder("keeper") / PROVISIONED
    mark.unlink(missing_ok=True)
    keeping = asyncio.create_task(keep(mark))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, keeping.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await keeping


if __name__ == "__main__":
    asyncio.run(run())
