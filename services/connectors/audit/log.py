"""The one door to the audit for whoever calls others: what `append` returned from is on disk. Concurrent callers share a commit."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

import asyncpg
import structlog

from services.connectors.audit.domain import Head, Note
from services.connectors.audit.usecases.record_notes import record_notes
from shared.db import Database
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.tasks import cancel, spawn

__all__ = ["AuditLog", "Note"]

log = structlog.get_logger()
MOST = 500
"""Entries that share a commit."""
PATIENCE = 5.0
"""Seconds until a write that hangs is given up: whoever waits for it is refused."""
AGAIN = 1.0
"""Seconds between two looks whether the audit can be written again."""
CONDITION = "audit"


class Waiting(NamedTuple):
    notes: tuple[Note, ...]
    done: asyncio.Future[None]


class AuditLog:
    """A part. `listeners` are told the audit's new head after each commit."""

    def __init__(self, db: Database, health: Health, part: str = "connectors") -> None:
        """`part` is written as the status of what begins, so that the next process knows whose it was."""
        self._db, self._health, self._part = db, health, part
        self._waiting: list[Waiting] = []
        self._some = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self._probing: asyncio.Task[None] | None = None
        self.listeners: list[Callable[[Head], None]] = []

    async def start(self) -> None:
        self._health.set(CONDITION, True)
        self._task = spawn(self._run(), "audit")

    async def stop(self) -> None:
        """What was handed in is written first."""
        self._stopping = True
        self._some.set()
        await cancel(self._probing)
        if self._task is not None:
            await self._task

    async def append(self, *notes: Note) -> None:
        """Returns when they are durable, one after the other in the chain. Transient (code `audit`) when they cannot be: then nothing may leave.

        A caller that is cancelled meanwhile does not know whether they were written; whoever reads the audit finds a `begun` without an end then.
        """
        if self._stopping:
            raise unwritable("this process is stopping")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(tuple(self._whose(each) for each in notes), done))
        self._some.set()
        await done

    def _whose(self, note: Note) -> Note:
        return replace(note, status=self._part) if note.outcome == "begun" else note

    async def _run(self) -> None:
        while not (self._stopping and not self._waiting):
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                await self._write_some()

    async def _write_some(self) -> None:
        taken: list[Waiting] = []
        while self._waiting and sum(len(each.notes) for each in taken) < MOST:
            each = self._waiting.pop(0)
            if not each.done.done():
                taken.append(each)
        fault = await self._write([note for each in taken for note in each.notes])
        for each in taken:
            if not each.done.done():
                each.done.set_result(None) if fault is None else each.done.set_exception(unwritable(fault))

    async def _write(self, notes: list[Note]) -> str | None:
        """Why they could not be written, or None."""
        try:
            async with asyncio.timeout(PATIENCE), self._db.transaction() as tx:
                entries = await record_notes(tx, notes)
        except (SchleuseError, asyncpg.PostgresError, TimeoutError) as error:
            return self._broken(error)
        self._health.set(CONDITION, True)
        for tell in self.listeners if entries else ():
            tell(Head(entries[-1].seq, entries[-1].hash))
        return None

    def _broken(self, error: Exception) -> str:
        reason = f"{type(error).__name__}: {error}"[:200] if str(error) else f"no answer within {PATIENCE:g} s"
        if self._health.conditions[CONDITION].ok:
            log.error("audit.unwritable", error=reason)
            self._health.set(CONDITION, False, f"the call audit cannot be written, so every call is refused: {reason}")
            self._probing = spawn(self._probe(), "audit probe")
        return reason

    async def _probe(self) -> None:
        """Health is green again as soon as it would work, even when nobody calls: a write is tried and taken back."""
        while not (self._stopping or self._health.conditions[CONDITION].ok):
            await asyncio.sleep(AGAIN)
            if await self._would_work():
                self._health.set(CONDITION, True)
                log.info("audit.writable_again")

    async def _would_work(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE), self._db.transaction() as tx:
                await record_notes(tx, [_TRY])
                raise _TakenBackError
        except _TakenBackError:
            return True
        except (SchleuseError, asyncpg.PostgresError, TimeoutError):
            return False


class _TakenBackError(Exception):
    """Ends the transaction of a try."""


_TRY = Note(UUID(int=0), "connectors", "audit.try", "noted")


def unwritable(reason: str) -> Transient:
    return Transient(
        f"the call audit cannot be written ({reason}), and what cannot be written down is not done; nothing left. Try again once"
        " `schleuse status` shows the connectors green.",
        code="audit",
    )
