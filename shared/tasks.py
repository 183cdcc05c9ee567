"""Background tasks. Crash-only: one that dies of an error ends the process, and the supervisor starts it whole again."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger()


def spawn(work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
    """Run it in the background; keep the returned task."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_ended)
    return task


async def cancel(task: "asyncio.Task[None] | None") -> None:
    """End it, if it was ever begun, and wait until it is over."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _ended(task: "asyncio.Task[None]") -> None:
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        log.critical("task.failed", task=task.get_name(), error=repr(error), exc_info=error)
        sys.stderr.flush()
        os._exit(1)
