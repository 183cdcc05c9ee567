"""News between the instances of a service, by NOTIFY in its own database, told after the commit and bundled.

A notice only makes the other instance look sooner. One that is lost, with its sender or with a connection, costs a second: every
listener looks by itself that often. A service of one instance sends and hears nothing.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import structlog

from shared.db.engine import GONE, Database
from shared.db.raw import Raw
from shared.errors import SchleuseError
from shared.ids import fresh_id
from shared.tasks import spawn

log = structlog.get_logger()

CHANNEL = "instances"
BUNDLE = 0.01
"""Seconds that the first notice waits for others: NOTIFY takes a lock of the whole database."""
MOST_BYTES = 7000
"""Postgres takes up to 8,000 bytes in one notice."""
AGAIN = 0.2
Hear = Callable[[Any], None]


class Notices:
    """A part of every service. `on` before the start; `tell` from after_commit."""

    def __init__(self, db: Database, *, several: bool) -> None:
        self._db, self.several = db, several
        self._me = fresh_id().hex
        self._hear: dict[str, Hear] = {}
        self._waiting: dict[str, str] = {}
        self._some, self._lost = asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def on(self, topic: str, hear: Hear) -> None:
        """`hear(body)` in this process for each `tell(topic, body)` of another one; `hear(None)` when notices may have been missed."""
        self._hear[topic] = hear

    def tell(self, topic: str, body: Any = None) -> None:
        """Plain JSON, small. The same notice twice in a bundle is one."""
        if self.several:
            self._waiting[json.dumps([topic, body], sort_keys=True)] = topic
            self._some.set()

    async def start(self) -> None:
        if self.several:
            self._tasks = [spawn(self._send(), "notices"), spawn(self._listen(), "notices heard")]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(BUNDLE)
            self._some.clear()
            waiting, self._waiting = list(self._waiting), {}
            try:
                async with self._db.reading() as tx:
                    for bundle in bundles(waiting):
                        await tx.raw.execute("SELECT pg_notify($1, $2)", CHANNEL, f'["{self._me}",[{bundle}]]')
            except SchleuseError as error:
                log.warning("notices.lost", error=error.message)

    async def _listen(self) -> None:
        while True:
            try:
                connection = await self._db.connect()
            except GONE:
                await asyncio.sleep(AGAIN)
                continue
            try:
                await self._follow(connection)
            except GONE:
                await asyncio.sleep(AGAIN)
            finally:
                connection.terminate()

    async def _follow(self, connection: Raw) -> None:
        """Until the connection is lost."""
        self._lost.clear()
        connection.add_termination_listener(lambda _: self._lost.set())
        await connection.add_listener(CHANNEL, self._heard)
        for hear in self._hear.values():
            hear(None)
        await self._lost.wait()

    def _heard(self, _: Any, __: int, ___: str, payload: Any) -> None:
        sender, notices = json.loads(payload)
        if sender == self._me:
            return
        for topic, body in notices:
            if topic in self._hear:
                self._hear[topic](body)


def bundles(notices: list[str]) -> list[str]:
    """Notices joined by commas, as many as fit into one payload; one that is too large alone is left out."""
    found: list[str] = []
    for each in notices:
        if len(each.encode()) > MOST_BYTES:
            log.warning("notices.too_large", notice=each[:200])
        elif found and len(found[-1].encode()) + len(each.encode()) < MOST_BYTES:
            found[-1] += f",{each}"
        else:
            found.append(each)
    return found
