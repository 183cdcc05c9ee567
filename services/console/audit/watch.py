"""Keeps recomputing the copy of the call audit as entries come, so that the page says at once when it is not one chain."""

import asyncio

import structlog

from services.console.audit import store
from services.console.audit.chain import views as chain_views
from services.console.audit.usecases.check_chain import check_some
from services.console.live import Live
from shared.db import Database
from shared.errors import SchleuseError
from shared.health import Health
from shared.signing import PublicKeys
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 10.0
BREATH = 0.005
"""Seconds between two pieces: somebody may be waiting for a page."""
CONDITION = "call_audit"


class ChainWatch:
    """A part. `wake` after somebody asked to begin afresh."""

    def __init__(self, db: Database, keys: PublicKeys, health: Health, live: Live) -> None:
        self._db, self._keys, self._health, self._live = db, keys, health, live
        self._woken = asyncio.Event()
        self._state: tuple[int, int | None, bool] | None = None
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._woken.set()

    async def start(self) -> None:
        async with self._db.transaction() as tx:
            await store.begin_chain(tx)
        self._task = spawn(self._run(), "audit chain")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._look()
            except SchleuseError as error:
                log.warning("audit_chain.not_looked_at", error=error.message)
            try:
                async with asyncio.timeout(EVERY):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _look(self) -> None:
        more = True
        while more:
            async with self._db.transaction() as tx:
                more, told = await check_some(tx, self._keys)
            for each in told:
                self._live.tell(event="notice", persons=[each.person_id], text=each.text, place=each.place)
            await asyncio.sleep(BREATH)
        async with self._db.reading() as tx:
            row = await chain_views.chain(tx)
        assert row is not None, "made at the start"
        bad, state = row["first_bad"], (row["seq"], row["first_bad"], row["recounting"])
        self._health.figures["audit_copy"] = row["seq"]
        self._health.set(
            CONDITION, bad is None, "" if bad is None else f"entry {bad} of the call audit: {row['reason']}"
        )
        if state != self._state:
            self._state = state
            self._live.tell(event="audit")
