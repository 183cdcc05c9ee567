"""Follows the changes of records: fingerprints of what changed are at the lock within 2 s, of an import when it is done (S14)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import structlog
from asyncpg import PostgresError, Record

from services.console.leaks import store
from services.console.leaks.usecases.follow_changes import follow_changes
from services.console.leaks.usecases.survey_columns import Tables, survey_columns
from services.console.leaks.usecases.tell_columns import tell_list
from shared.db import Database
from shared.errors import SchleuseError
from shared.health import Health
from shared.leaks.key import LeakKey
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 0.4
"""Seconds until changes are looked for again; another instance may have made them."""
AGAIN = 2.0
LATE = 60.0
"""Seconds that a change may wait before health says so."""
SURVEY = 5.0
NEVER = float("-inf")


class LeakKeeper:
    """A part. Whole tables and single rows have a loop each: an import does not keep an edit of another table waiting."""

    def __init__(self, db: Database, keys: Path, health: Health) -> None:
        self._db, self._keys, self._health = db, keys, health
        self._tasks: list[asyncio.Task[None]] = []
        self._surveyed, self._is_news = NEVER, True
        self._tables: Tables = {}

    async def start(self) -> None:
        self._tasks = [
            spawn(self._run(self._follow_rows), "leaks"),
            spawn(self._run(self._follow_tables), "leaks of tables"),
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            await cancel(task)

    async def _run(self, look: Callable[[LeakKey], Awaitable[None]]) -> None:
        while True:
            wait = EVERY
            try:
                await look(await asyncio.to_thread(LeakKey.load, self._keys))
            except (SchleuseError, PostgresError) as error:
                log.warning("leaks.not_followed", error=type(error).__name__)
                self._health.set("leaks", False, f"the lock is told of no new internal value: {type(error).__name__}")
                wait = AGAIN
            await asyncio.sleep(wait)

    async def _follow_rows(self, key: LeakKey) -> None:
        loop = asyncio.get_running_loop()
        found = await self._changed()
        is_due = loop.time() - self._surveyed > SURVEY
        if is_due or any(row["table_name"] == "" for row in found):
            async with self._db.transaction() as tx:
                self._tables = await survey_columns(tx, key)
            self._surveyed = loop.time()
        fault = await self._follow(key, [row for row in found if row["table_name"] and not row["whole"]])
        if is_due or self._is_news:
            self._is_news = not await self._tell(key)
        if fault is not None:
            raise fault

    async def _follow_tables(self, key: LeakKey) -> None:
        if self._surveyed == NEVER:
            return
        fault = await self._follow(key, [row for row in await self._changed() if row["whole"] and row["table_name"]])
        if fault is not None:
            raise fault

    async def _changed(self) -> Sequence[Record]:
        async with self._db.reading() as tx:
            return await store.changed_tables(tx)

    async def _follow(self, key: LeakKey, rows: Sequence[Record]) -> Exception | None:
        """A table that cannot be read keeps no other from being followed; what was wrong with it is the answer."""
        fault: Exception | None = None
        for row in rows:
            app, name = row["app"], row["table_name"]
            try:
                async with self._db.transaction() as tx:
                    if await follow_changes(tx, key, app, self._tables.get((app, name)), name):
                        self._is_news = not await tell_list(tx, key)
            except (SchleuseError, PostgresError) as error:
                fault = error
        return fault

    async def _tell(self, key: LeakKey) -> bool:
        """Whether the list that the lock has is the one that there is."""
        async with self._db.transaction() as tx:
            told = await tell_list(tx, key)
            waiting = await store.waiting(tx) or 0.0
        late = waiting > LATE
        self._health.set("leaks", not late, f"changes of internal values wait for {waiting:.0f} s" if late else "")
        return told
