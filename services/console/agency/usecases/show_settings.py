"""What of the agent's settings is in force, who set it, when and why, and what is on its way."""

from collections.abc import Sequence
from uuid import UUID

from services.console.agency import store
from services.console.agency.domain import DEFAULTS, Shown, title_of
from shared.db import Tx

RECENT = 50


async def show_settings(tx: Tx) -> Sequence[Shown]:
    """Those that every installation has, then caps of single people that were set, by name."""
    held = {(row["name"], row["subject"]): row for row in await store.in_force(tx)}
    coming = {(row["name"], row["subject"]): row for row in reversed(await store.changes(tx, RECENT)) if row["outcome"] == "sent"}  # fmt: skip
    people = [UUID(subject.partition(":")[2]) for name, subject in (*held, *coming) if ":" in subject]
    names = await store.names_of(tx, people)
    shown = []
    for key in dict.fromkeys((*DEFAULTS, *held, *coming)):
        row = held.get(key)
        if ":" in key[1] and key not in coming and (row is None or not row["value"]):
            continue  # as everybody again
        title, about = title_of(*key, names.get(key[1].partition(":")[2], ""))
        value = row["value"] if row is not None else DEFAULTS.get(key, "")
        shown.append(Shown(key[0], key[1], title, about, value, row, coming.get(key)))
    return shown
