"""Staff let the agent read one row, as it is now; it stands among what is shared, and is taken back there."""

from uuid import UUID

from services.console.apps.domain import InstalledApp
from services.console.people.domain import Caller
from services.console.records import store, views
from services.console.records.domain import shape_of, texts
from services.console.sharing.domain import MOST_TITLE
from services.console.sharing.usecases.share_record import share_text
from shared.db import Tx

OURS = frozenset({"page", "api", "operator", "undo"})
"""Ways by which staff write; whatever else a row went through, its words may be an outsider's (S11)."""


async def share_row(tx: Tx, caller: Caller, app: InstalledApp, table: str, key: str) -> UUID:
    """The shared record's id. NotFound when there is no such row; Forbidden for who may not share."""
    caller.require("share")
    shape = shape_of(app, table)
    row = await store.get(tx, shape, key)
    lines = [f"{name}: {text}" for name, text in texts(shape, row).items() if text is not None]
    ways = {entry["how"] for entry in await views.history(tx, shape, key)}
    source = "staff" if ways and ways <= OURS else "outside"
    title = "".join(each for each in f"{app.slug} {table}: {shape.label_of(row)}" if each.isprintable())
    return await share_text(tx, caller, title[:MOST_TITLE], "\n".join(lines), source)
