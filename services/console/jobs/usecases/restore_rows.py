"""Rows that a run deleted come back as they were, for seven days (rule 13)."""

from dataclasses import dataclass
from uuid import UUID

from services.console.apps.views import find_app
from services.console.jobs import store
from services.console.jobs.domain import BATCH, PLATFORM
from services.console.jobs.rows import store as rows
from services.console.jobs.rows.domain import Target
from services.console.jobs.usecases.find_target import find_target
from services.console.leaks.note import note_changes
from services.console.people.domain import Caller
from services.console.records.domain import By, Change, read_key, shape_of
from services.console.records.store import keep_history, worded
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused


@dataclass(frozen=True)
class Restored:
    """`left`: rows that are in the trash still because a row with their key is there again. `after`: where to go on; None when all was tried."""

    rows: int
    left: int
    after: int | None


async def restore_rows(tx: Tx, caller: Caller, run_id: UUID, *, after: int = 0, only: frozenset[int] | None = None) -> Restored:  # fmt: skip
    """Up to 1,000 of a run. `only`: these of its trash. NotFound, Forbidden; Conflict while it runs; Refused when the table is gone, or a reference does not hold."""
    caller.require("connectors")
    run = await store.run(tx, run_id)
    if run is None:
        raise NotFound("There is no such run; `schleuse jobs history` shows them.", code="run")
    if run["state"] == "running":
        raise Conflict("This run goes on still. Restore its rows when it has ended.", code="running")
    found = await rows.trashed(tx, run_id, now(), BATCH, after)
    if not found and not after:
        raise NotFound("Nothing of this run can be restored: its rows were restored already, or seven days are over.", code="trash")  # fmt: skip
    ids = [row["trash_id"] for row in found if only is None or row["trash_id"] in only]
    target = await find_target(tx, run["app_slug"], run["table_name"])
    columns = await rows.real_columns(tx, target)
    if not columns:
        raise Refused(f"There is no table {run['table_name']} to restore rows to.", code="table")
    keys = await _put_back(tx, target, columns, ids, caller)
    await store.put_restored(tx, run_id, len(keys))
    return Restored(len(keys), len(ids) - len(keys), found[-1]["trash_id"] if len(found) == BATCH else None)


async def _put_back(tx: Tx, target: Target, columns: list[str], ids: list[int], caller: Caller) -> list[str]:
    app = None if target.app == PLATFORM else await find_app(tx, target.app)
    if app is None:
        return await rows.put_back(tx, target, columns, ids)
    shape = shape_of(app, target.table)
    async with worded(tx, shape):
        keys = await rows.put_back(tx, target, columns, ids)
    by = By(caller.id, caller.name, "restore")
    await keep_history(tx, shape, [Change(each, "added", None, None) for each in keys], by)
    await note_changes(tx, target.app, target.table, [tuple(read_key(each)) for each in keys])
    return keys
