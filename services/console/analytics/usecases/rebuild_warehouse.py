"""Tell ClickHouse everything again, from nothing. The figures are the same afterwards (rule 23)."""

from services.console.analytics import store
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.analytics.warehouse import Warehouse
from shared.db import Database
from shared.settings import Settings


async def rebuild_warehouse(db: Database, warehouse: Warehouse, settings: Settings) -> int:
    """How many rows it holds afterwards."""
    async with db.transaction() as tx:
        await store.lead(tx)
        await store.renew(tx)
    return await sync_warehouse(db, warehouse, settings)
