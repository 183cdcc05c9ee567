"""A person says which app's rows the answers of a form become; those that wait are placed at once."""

from collections.abc import Mapping
from uuid import UUID

from services.console.answers import store
from services.console.answers.domain import check_fields
from services.console.answers.usecases.place_answer import place_answer
from services.console.apps.domain import InstalledApp
from services.console.people.domain import Caller
from services.console.records.domain import shape_of
from shared.clock import now
from shared.db import Tx

AT_ONCE = 1000


async def map_form(
    tx: Tx, by: Caller, item_id: UUID, form: str, app: InstalledApp, table: str, fields: Mapping[str, str]
) -> tuple[int, int]:
    """How many waiting answers became records, and how many did not fit. `fields`: column by the form's field."""
    by.require("decide")
    chosen = check_fields(shape_of(app, table), fields)
    mapping = {
        "item_id": item_id, "form": form, "app": app.slug, "table_name": table, "fields": chosen, "by_name": by.name, "at": now(),
    }  # fmt: skip
    await store.map_to(tx, mapping)
    waiting = await store.waiting(tx, item_id, form, AT_ONCE)
    placed = [await place_answer(tx, each, mapping) for each in waiting]
    return sum(placed), len(placed) - sum(placed)


async def unmap_form(tx: Tx, by: Caller, item_id: UUID, form: str) -> None:
    """Answers are kept as they come, from now on; records that they became stay."""
    by.require("decide")
    await store.unmap(tx, item_id, form)
