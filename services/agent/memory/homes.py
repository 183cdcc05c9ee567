"""Each owner's folder: opened from the root down, and held by one writer at a time, in whichever process.

Files are read and written in threads. A turn that is stopped meanwhile lets the step in hand end: a thread cannot be stopped, and
must not find its descriptors closed.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from schemas.outward import Owner
from services.agent.memory import beneath
from services.agent.memory.domain import folder_of
from shared.db import Database
from shared.errors import Transient

T = TypeVar("T")
PATIENCE = 10.0
"""Seconds to wait for others who write in the same workspace."""
AGAIN = 0.01


class Homes:
    """`root`: the folder that only this service can enter."""

    def __init__(self, root: Path, db: Database) -> None:
        self._root, self._db = root, db
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextmanager
    def _home(self, owner: Owner, *, make: bool = False) -> Iterator[int | None]:
        """A descriptor of the owner's folder; None when there is none yet. In a thread."""
        name, home = folder_of(owner), None
        with beneath.named_errors():
            root = self._open_root()
            try:
                home = beneath.open_folder(root, name, make=make)
            except FileNotFoundError:
                pass
            finally:
                os.close(root)
            try:
                yield home
            finally:
                if home is not None:
                    os.close(home)

    def _open_root(self) -> int:
        try:
            return beneath.open_folder(None, self._root)
        except FileNotFoundError:
            raise Transient(f"the folder {self._root} is missing; a start makes it: `schleuse up`") from None

    async def _read(self, owner: Owner, look: Callable[[int | None], T]) -> T:
        """Look into the owner's folder, in a thread."""

        def work() -> T:
            with self._home(owner) as home:
                return look(home)

        return await whole(asyncio.to_thread(work))

    async def _hold(self, owner: Owner, step: Callable[[int], Awaitable[T]]) -> T:
        """Write in the owner's folder, alone. Transient when others hold it for ten seconds."""
        return await whole(self._alone(owner, step))

    async def _alone(self, owner: Owner, step: Callable[[int], Awaitable[T]]) -> T:
        queue = self._queues.setdefault(folder_of(owner), asyncio.Lock())
        async with queue:
            with self._home(owner, make=True) as home:
                assert home is not None, "it was made"
                await asyncio.to_thread(_lock, home)
                with beneath.named_errors():
                    return await step(home)


async def whole(work: Awaitable[T]) -> T:
    """Its result. Whoever is cancelled meanwhile waits until it has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


def _lock(home: int) -> None:
    """Other processes hold it for milliseconds."""
    patience = time.monotonic() + PATIENCE
    while not beneath.try_lock(home):
        if time.monotonic() > patience:
            raise Transient("Somebody else has been writing in this workspace for ten seconds; try again.")
        time.sleep(AGAIN)
