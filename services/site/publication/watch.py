"""The site's own watch: verifies what is stored before anything is shown, looks at it every second, asks the gate."""

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any

import structlog

from schemas.statements import FIRST
from services.site.publication import store
from services.site.publication.books import Books
from services.site.publication.chain import read_head
from services.site.publication.usecases.ask_gate import ask_gate
from services.site.publication.usecases.sweep_rows import Stock, sweep_rows
from shared.db import Database, Tx
from shared.errors import BadSignature, Transient
from shared.health import Health
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 1.0
"""Seconds between two looks at the database."""
SHARE = 20
"""On a large site a look at everything takes a while: the pause to the next is so many times as long."""
CALM = 0.05
"""And between two that others hurry."""
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 30.0
"""Seconds between two questions to the gate: growing while it does not answer."""


class Watch:
    """A part of the service. `ticks` are called after each look, once a second; `opened` gets the forms' key at start."""

    def __init__(self, db: Database, books: Books, health: Health) -> None:
        self._db, self._books, self._health = db, books, health
        self._mark: tuple[Any, ...] | None = None
        self._stock = Stock(-1)
        self._lacking: tuple[int, int] | None = None
        self._pause = FIRST_PAUSE
        self._next_question = 0.0
        self._task: asyncio.Task[None] | None = None
        self._hurried = asyncio.Event()
        self._next_look = 0.0
        self.ticks: list[Callable[[], None]] = []
        self.opened: Callable[[bytes], None] = lambda form_key: None

    async def start(self) -> None:
        """Verify everything and ask the gate, before the service listens to anybody."""
        async with self._db.transaction() as tx:
            self.opened(await store.open_state(tx, FIRST, secrets.token_bytes(32)))
        await self.look()
        self._task = spawn(self._run(), name="watch")

    async def stop(self) -> None:
        await cancel(self._task)

    def hurry(self) -> None:
        """Another instance has written: look soon, not within the second."""
        self._hurried.set()

    async def _rest(self) -> None:
        await asyncio.sleep(CALM)
        try:
            async with asyncio.timeout(EVERY - CALM):
                await self._hurried.wait()
        except TimeoutError:
            return

    async def _run(self) -> None:
        while True:
            await self._rest()
            hurried = self._hurried.is_set()
            self._hurried.clear()
            try:
                await self.look(whole=hurried or time.monotonic() >= self._next_look)
            except Transient as error:
                self._health.set("rows", False, f"cannot be looked at: {error.message}")
            self._tell()

    async def look(self, *, whole: bool = True) -> None:
        """Read what others did to the database, and ask the gate when there is a reason to. Not `whole`: the rows are not looked at."""
        async with self._db.reading() as tx:
            mark = await self._fingerprint(tx) if whole else self._mark
            heads = await store.heads_since(tx, list(self._books.heads))
        for sealed in heads:
            try:
                self._books.see(sealed, read_head(sealed, self._books.keys))
            except BadSignature as error:
                self._books.heads.add(sealed.hash)
                log.warning("site.head_refused", reason=error.message)
        if mark != self._mark or self._books.doubted:
            await self._sweep()
            self._mark = mark
        self._books.miss_overdue(time.monotonic())
        await self._ask()
        self._tell()

    async def _fingerprint(self, tx: Tx) -> tuple[Any, ...]:
        began = time.monotonic()
        mark = await store.fingerprint(tx)
        self._next_look = time.monotonic() + SHARE * (time.monotonic() - began)
        return mark

    async def _sweep(self) -> None:
        async with self._db.transaction() as tx:
            self._stock = await sweep_rows(tx, self._books)
        for name, fault in self._stock.faults.items():
            log.warning("site.row_rejected", fault=name, reason=fault.reason)

    async def _ask(self) -> None:
        books = self._books
        lacking = (self._stock.seq, len(books.missing)) if self._stock.seq < books.log.seq or books.missing else None
        if lacking != self._lacking:
            self._lacking, self._pause, self._next_question = lacking, FIRST_PAUSE, 0.0
        if lacking is None and not books.door.must_ask:
            self._pause = FIRST_PAUSE
            return
        if time.monotonic() < self._next_question:
            return
        async with self._db.transaction() as tx:
            after = (await store.head(tx))[0]
            rows = [books.shelf.current(item_id) for item_id in books.missing]
            after = min([after, *(row.entry.seq - 1 for row in rows if row is not None)])
            await ask_gate(tx, books, after, at_once=True)
        self._next_question = time.monotonic() + self._pause
        self._pause = min(self._pause * 1.5, LONGEST_PAUSE)

    def _tell(self) -> None:
        books = self._books
        answer = books.door.answer(books.log)
        self._health.set("gate", answer.verdict != "waiting", answer.reason)
        faults = sorted({fault.reason for fault in books.faults.values()})
        detail = f"{len(books.faults)} not shown: {'; '.join(faults)}"[:500] if faults else f"{len(books.shelf)} pages"
        self._health.set("rows", not faults, detail)
        age = books.door.head_age
        self._health.figures |= {
            "gate_seq": books.log.seq,
            "pages": len(books.shelf),
            "head_age_s": None if age is None else round(age.total_seconds()),
            "row_faults": len(books.faults),
        }
        for tick in self.ticks:
            tick()
