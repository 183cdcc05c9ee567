"""Tell ClickHouse what changed since the last time, piece by piece.

There is no position that could be lost or run ahead: a piece is told as a whole, what of it is there already is not put in
again, and the note that it changed goes only after ClickHouse has it. A crash at any place means that the piece comes once more.
"""

from services.console.analytics import store
from services.console.analytics.domain import SOURCES, Source
from services.console.analytics.warehouse import Warehouse
from shared.db import Database, Tx
from shared.settings import Settings

EMPTIED = -1


async def sync_warehouse(db: Database, warehouse: Warehouse, settings: Settings) -> int:
    """How many rows ClickHouse holds afterwards: all that were committed when this began. Transient when it is away."""
    await _same_generation(db, warehouse, settings)
    for source in SOURCES:
        while await _next_pieces(db, warehouse, source):
            pass
    rows = int((await warehouse.ask("count"))["rows"])
    async with db.transaction() as tx:
        await store.note_synced(tx, rows)
    return rows


async def _same_generation(db: Database, warehouse: Warehouse, settings: Settings) -> None:
    """A copy that is new, of another installation or from before a restore begins empty."""
    async with db.transaction() as tx:
        number = await store.lead(tx)
        restored = settings.restored_at.isoformat() if settings.restored_at else "never"
        answer = await warehouse.ask("begin", generation=f"{settings.install_id}/{restored}/{number}")
        if not answer["known"]:
            await store.note_all(tx)


async def _next_pieces(db: Database, warehouse: Warehouse, source: Source) -> bool:
    """One transaction: what is told is what stands there now, and only the notes that were seen are crossed out."""
    async with db.transaction() as tx:
        await store.lead(tx)
        waiting = await store.waiting(tx, source)
        if not waiting:
            return False
        await _tell(tx, warehouse, source, waiting)
        await store.done(tx, [each for row in waiting for each in row["ids"]])
        return True


async def _tell(tx: Tx, warehouse: Warehouse, source: Source, waiting: list[store.Piece]) -> None:
    if any(row["chunk"] == EMPTIED for row in waiting):
        await warehouse.ask("empty", source=source)
    chunks = [row["chunk"] for row in waiting if row["chunk"] != EMPTIED]
    if chunks:
        rows = await store.told(tx, source, chunks)
        afresh = [row["chunk"] for row in waiting if row["afresh"]]
        await warehouse.ask("put", rows, source=source, chunks=chunks, afresh=afresh)
