"""What the lock knows of internal columns: what the console told of each, event by event, if it can be believed now and nothing is missing (S14).

Nothing but the bytes counts: an event that was taken away, shortened or made up by hand breaks its column's row of numbers or has no mac, and the
console's list says up to which number each column must be there.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID

from pydantic import ValidationError

from schemas.console.v1 import ColumnFingerprinted
from schemas.text import BadJson, parse_json, sha256
from services.bridge.inspection import store
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.leaks.key import LIST, LeakKey, believes, read_list
from shared.tasks import cancel, spawn

OLDEST = timedelta(hours=1)
MOMENT = 0.25
"""Seconds for which what was found is not looked at again."""
MOVING, LOOK = 1.5, 0.1
WATCH = 30.0
PATIENCE = 90.0
"""Seconds after the start in which health does not complain: the console makes its fingerprints."""


@dataclass(frozen=True)
class Told:
    """One event of a column, deciphered."""

    sequence: int
    whole: bool
    dropped: bool
    added: bytes
    removed: bytes


@dataclass(frozen=True)
class Columns:
    """All that the console told, and nothing is missing. `name` tells it from what would find something else."""

    name: str
    seeking: bytes
    canary: str
    labels: dict[UUID, str]
    events: dict[UUID, tuple[Told, ...]]

    def __repr__(self) -> str:
        return f"Columns({self.name}, {len(self.events)} columns)"


class ColumnSource(Protocol):
    """Where the inspector learns what counts now: the columns, or why they cannot be looked for."""

    async def current(self) -> Columns | str: ...


class ColumnShelf:
    """A part. What is stored is mirrored here, and looked at anew for each text, or for those that come in one moment."""

    def __init__(self, db: Database, keys: Path, health: Health) -> None:
        self._db, self._keys, self._health = db, keys, health
        self._key_id = ""
        self._held: dict[UUID, dict[int, ColumnFingerprinted]] = {}
        self._opened: dict[tuple[UUID, int], Told] = {}
        self._now: tuple[float, Columns] | None = None
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._watch(), "columns")

    async def stop(self) -> None:
        await cancel(self._task)

    async def current(self) -> Columns | str:
        loop = asyncio.get_running_loop()
        async with self._turn:
            if self._now is not None and loop.time() < self._now[0]:
                return self._now[1]
            deadline = loop.time() + MOVING  # a column and the list of all come as two events
            while isinstance(found := await self._look(), str) and loop.time() < deadline:  # noqa: ASYNC110 - another process writes
                await asyncio.sleep(LOOK)
            self._now = (loop.time() + MOMENT, found) if isinstance(found, Columns) else None
            return found

    async def afresh(self) -> Columns | str:
        """Read once more, byte for byte."""
        async with self._turn:
            self._held, self._opened, self._now = {}, {}, None
        return await self.current()

    async def _look(self) -> Columns | str:
        try:
            key = LeakKey.load(self._keys)
            if key.key_id != self._key_id:
                self._key_id, self._held, self._opened = key.key_id, {}, {}
            await self._mirror(key)
            return self._judge(key)
        except _Unbelievable as error:
            return str(error)
        except Transient as error:
            return error.message

    async def _mirror(self, key: LeakKey) -> None:
        """The same events as in the database; those that are new here are verified."""
        async with self._db.reading() as tx:
            there = dict[UUID, list[int]]()
            for row in await store.column_events(tx, key.key_id):
                there.setdefault(row["column_id"], []).append(row["sequence"])
            held = dict[UUID, dict[int, ColumnFingerprinted]]()
            for column, numbers in there.items():
                mine = {each: told for each, told in self._held.get(column, {}).items() if each in set(numbers)}
                missing = [each for each in numbers if each not in mine]
                if missing:
                    for row in await store.some_column_events(tx, column, missing):
                        mine[row["sequence"]] = await asyncio.to_thread(
                            _read, row["body"], column, row["sequence"], key
                        )
                held[column] = dict(sorted(mine.items()))
        self._held = held
        self._opened = {name: told for name, told in self._opened.items() if name[1] in held.get(name[0], {})}

    def _judge(self, key: LeakKey) -> Columns:
        listed = self._list(key)
        events = dict[UUID, tuple[Told, ...]]()
        for column, told in self._held.items():
            if column != LIST:
                events[column] = self._whole(key, column, list(told.values()), listed.get(column, 0))
        missing = listed.keys() - events.keys()
        if missing:
            raise _Unbelievable(f"the fingerprints of {len(missing)} internal columns are not there")
        labels = {column: list(self._held[column].values())[-1].label for column in events}
        said = ",".join(f"{column}:{_reached(told)}" for column, told in sorted(events.items()))
        return Columns(f"{key.key_id}/{sha256(said.encode())}", key.seeking, key.canary, labels, events)

    def _list(self, key: LeakKey) -> dict[UUID, int]:
        held = list(self._held.get(LIST, {}).values())
        if not held:
            raise _Unbelievable("the console has not told yet which internal columns there are")
        newest = held[-1]
        if now() - newest.at > OLDEST:
            raise _Unbelievable("what the console told of its internal columns is older than an hour")
        if not newest.complete:
            raise _Unbelievable("the console is still making fingerprints of its internal columns")
        return read_list(key.opened(newest)[0])

    def _whole(self, key: LeakKey, column: UUID, told: Sequence[ColumnFingerprinted], least: int) -> tuple[Told, ...]:
        wholes = [at for at, each in enumerate(told) if each.whole]
        told = told[wholes[-1] :] if wholes else told
        numbers = [each.sequence for each in told]
        if not wholes or numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[-1] < least:
            raise _Unbelievable(f"a part of the fingerprints of {told[-1].label} is missing")
        if not told[-1].complete:
            raise _Unbelievable(f"the console is still making fingerprints of {told[-1].label}")
        return tuple(self._open(key, column, each) for each in told)

    def _open(self, key: LeakKey, column: UUID, told: ColumnFingerprinted) -> Told:
        name = (column, told.sequence)
        if name not in self._opened:
            self._opened[name] = Told(told.sequence, told.whole, told.dropped, *key.opened(told))
        return self._opened[name]

    async def _watch(self) -> None:
        """Health says when nothing could be approved."""
        loop = asyncio.get_running_loop()
        patient_until = loop.time() + PATIENCE
        while True:
            try:
                found = await self.current()
            except SchleuseError as error:
                found = error.message
            well = isinstance(found, Columns)
            self._health.set(
                "columns", well or loop.time() < patient_until, "" if isinstance(found, Columns) else found[:200]
            )
            await asyncio.sleep(WATCH)


class _Unbelievable(Exception):
    """Why what is stored does not count."""


def _reached(told: Sequence[Told]) -> int:
    """The newest event that brought something; what went makes nothing suspicious that was not."""
    return max(each.sequence for each in told if each.added or each is told[0])


def _read(body: bytes, column: UUID, sequence: int, key: LeakKey) -> ColumnFingerprinted:
    try:
        told = ColumnFingerprinted.model_validate(parse_json(body))
    except (BadJson, ValidationError):
        raise _Unbelievable("fingerprints of an internal column cannot be read") from None
    if told.key_id != key.key_id:
        raise _Unbelievable(
            "the fingerprints of internal columns were made with an earlier key; the console makes them anew"
        )
    if not believes(told, key) or (told.column_id, told.sequence) != (column, sequence):
        raise _Unbelievable("fingerprints of an internal column are not what the console made")
    return told
