"""Somebody is forgotten: what the console keeps of them beside the records goes; the records that name them are told, and go too when that is wanted (S15)."""

from dataclasses import dataclass

from services.console.apps.views import list_apps
from services.console.forgetting import store
from services.console.leaks.note import ALL, note_changes
from shared.db import Tx


@dataclass(frozen=True)
class Forgotten:
    """How many rows: `cleared` by kind, `records` by app.table."""

    cleared: dict[str, int]
    records: dict[str, int]


async def forget_subject(tx: Tx, text: str, *, really: bool, records: bool) -> Forgotten:
    """Without `really` it is only counted; `records`: the rows of apps that hold the text go as well, without a trash."""
    named: dict[str, int] = {}
    for app in await list_apps(tx):
        for table in app.declaration.tables:
            goes = really and records
            found = await (store.delete_named if goes else store.named_in)(tx, app, table.name, text)
            if found:
                named[f"{app.slug}.{table.name}"] = found
            if found and goes:
                await note_changes(tx, app.slug, table.name, ALL)
    cleared = await store.clear(tx, text) if really else await store.count(tx, text)
    return Forgotten(cleared, named)
