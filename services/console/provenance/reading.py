"""An item's provenance, put together from the copies that the console holds."""

from uuid import UUID

from services.console.provenance import views
from services.console.provenance.domain import Provenance, Receipt, Station, read_address
from services.console.queue import views as queue
from services.console.queue.hops import hops
from services.console.queue.reading import Reading, read_item
from services.console.signals import views as signals
from shared.db import Database, Tx
from shared.errors import NotFound

DECIDED = ("approve",)


async def read_provenance(db: Database, said: str) -> Provenance:
    """Of the item at this address (or with this id). NotFound when nothing of ours was ever there."""
    item_id = await _find(db, said)
    reading = await read_item(db, item_id)
    shown = reading.item["published_revision"]
    if shown and shown != reading.revision["revision"]:
        reading = await read_item(db, item_id, shown)
    async with db.reading() as tx:
        return await _provenance(tx, reading)


async def _find(db: Database, said: str) -> UUID:
    address = read_address(said)
    async with db.reading() as tx:
        if isinstance(address, UUID):
            return address
        found = await queue.find_item(tx, "/".join(address))
    if found is None:
        raise NotFound(f"Nothing of this installation was ever at {'/'.join(address)[:200]}.")
    return found


async def _provenance(tx: Tx, reading: Reading) -> Provenance:
    item, revision = reading.item, reading.revision
    submitted = await queue.submitted_at(tx, revision["submission_id"])
    rows = await queue.item_history(tx, item["item_id"])
    live = item["live_since"] if item["live_revision"] is not None else None
    known = {name: item[name] for name in ("item_id", "kind", "lang", "path", "title", "state")}
    stations = [Station(each.side, each.title, each.where, each.at, each.gap, each.waited) for each in hops(reading, rows, submitted)]  # fmt: skip
    return Provenance(
        **known,
        revision=revision["revision"],
        public=item["published_revision"] is not None,
        proposed_by=revision["by_name"],
        via=revision["by_via"],
        conversation_id=revision["conversation_id"],
        turn_id=revision["turn_id"],
        receipt=_receipt(reading),
        stations=stations,
        live_ms=reading.live_ms,
        live_since=live,
        since=await views.since(tx, item["item_id"], live),
        votes=await signals.votes_of(tx, str(item["item_id"])),
    )


def _receipt(reading: Reading) -> Receipt:
    """From the word that let this revision out; the gate's number is that of its own publication."""
    item, number = reading.item, reading.revision["revision"]
    word = next((row for row in reading.decisions if row["revision"] == number and row["verdict"] in DECIDED), None)
    went = next((row for row in reading.history if row["revision"] == number and row["state"] == "published"), None)
    stored = item["live_since"] if item["live_revision"] == number else None
    content_hash = reading.revision["content_hash"]
    sequence = went["gate_seq"] if went else None
    if word is None:
        return Receipt(content_hash, None, None, None, None, None, None, sequence, stored)
    signed = (word["verdict"], word["by_name"], word["reason"], word["at"], word["key_id"], word["statement_hash"])
    return Receipt(content_hash, *signed, sequence, stored)
