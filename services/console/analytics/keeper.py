"""Notes what changes for ClickHouse from the start, and tells it once a minute while somebody uses it."""

import structlog

from services.console.analytics import store
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.analytics.warehouse import Warehouse
from services.console.rounds import Rounds
from shared.db import Database
from shared.errors import SchleuseError
from shared.health import Health
from shared.settings import Settings

log = structlog.get_logger()


class WarehouseKeeper(Rounds):
    """A part of the service; starts before anything is counted."""

    name = "analytics"

    def __init__(self, db: Database, warehouse: Warehouse, settings: Settings, health: Health) -> None:
        super().__init__()
        self._db, self._warehouse, self._settings, self._health = db, warehouse, settings, health

    async def start(self) -> None:
        async with self._db.transaction() as tx:
            await store.prepare(tx)
        await super().start()

    async def stop(self) -> None:
        await super().stop()
        await self._warehouse.stop()

    async def round(self) -> None:
        """A fault of ClickHouse is told where it is used and in the figures of health: no page depends on it."""
        if not self._warehouse.running:
            async with self._db.transaction() as tx:
                await store.forget_waiting(tx)
            return
        try:
            await sync_warehouse(self._db, self._warehouse, self._settings)
        except SchleuseError as error:
            log.warning("analytics.not_told", error=error.message)
            async with self._db.transaction() as tx:
                await store.note_fault(tx, error.message[:500])
