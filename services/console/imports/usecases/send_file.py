"""A file is kept in pieces until it is imported. Whoever sent it goes on with it, at whichever instance."""

from uuid import UUID

from schemas.text import text_fault
from services.console.apps.domain import InstalledApp
from services.console.imports import store
from services.console.imports.domain import MOST_BYTES, Options
from services.console.people.domain import Caller
from services.console.records.domain import shape_of
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused, TooLarge
from shared.ids import new_id


async def begin_file(tx: Tx, app: InstalledApp, table: str, by: Caller, file_name: str, options: Options) -> UUID:
    """The id under which pieces follow."""
    by.require("submit")
    shape_of(app, table)
    for said in (file_name, options.null, *options.skip):
        fault = text_fault(said)
        if fault:
            raise Refused(f"The import cannot be begun: {fault}", code="text")
    import_id, at = new_id(), now()
    await store.drop_old(tx, at)
    await store.begin(
        tx,
        {
            "import_id": import_id, "app": app.slug, "table_name": table, "file_name": file_name[:200], "options": vars(options) | {"skip": list(options.skip)},
            "state": "sent", "by_id": by.id, "by_name": by.name, "at": at, "moved_at": at,
        },
    )  # fmt: skip
    return import_id


async def add_piece(tx: Tx, import_id: UUID, by: Caller, number: int, piece: bytes) -> None:
    """TooLarge above 64 MiB in all."""
    found = await store.find(tx, import_id, lock=True)
    if found is None or found["by_id"] != by.id or found["state"] != "sent":
        raise NotFound("There is no such import that waits for its file.")
    if await store.size(tx, import_id) + len(piece) > MOST_BYTES:
        raise TooLarge(f"A file has at most {MOST_BYTES // 1024 // 1024} MiB; send it in parts.")
    await store.add_piece(tx, import_id, number, piece)
