"""How these programs speak: one JSON line per fact on standard error, and 1 as exit code with `failed` and its `code`."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from typing import Any

import asyncpg

from infra.postgres.cluster import Unsound
from shared.errors import SchleuseError

EVERY = 16 * 1024**2


def say(**facts: Any) -> None:
    sys.stderr.write(json.dumps(facts, default=str) + "\n")
    sys.stderr.flush()


class Progress:
    """Says how many bytes are done, now and then."""

    def __init__(self) -> None:
        self._done = self._said = 0

    def add(self, size: int) -> None:
        self._done += size
        if self._done - self._said >= EVERY:
            self._said = self._done
            say(done=self._done)


def run(work: Callable[[], object]) -> None:
    """A stop signal ends it as an interruption does, so that what was begun at the server is ended in order."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        work()
    except SchleuseError as error:
        _fail(error.message, error.code)
    except (Unsound, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        _fail(f"{type(error).__name__}: {error}", "error")
    except (KeyboardInterrupt, asyncio.CancelledError):
        _fail("interrupted", "interrupted")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _fail(message: str, code: str) -> None:
    say(failed=message, code=code)
    raise SystemExit(1)
