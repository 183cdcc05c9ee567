"""Which columns are internal now: new ones are noted to be looked at, and those that went, or became shareable, are taken back from the lock."""

from services.console.apps.views import list_apps
from services.console.leaks import store
from services.console.leaks.domain import Guarded, guarded, names_of
from services.console.leaks.usecases.tell_columns import tell_dropped
from shared.db import Tx
from shared.leaks.key import LeakKey

Tables = dict[tuple[str, str], Guarded]


async def survey_columns(tx: Tx, key: LeakKey) -> Tables:
    """The tables that have internal columns. With another key than before, all of them are looked at anew."""
    tables = guarded(await list_apps(tx))
    if not await store.is_mine(tx, ""):
        return tables
    await store.begin_afresh(tx, key.key_id)
    held, wanted = await store.columns(tx), names_of(tables.values())
    gone = held.keys() - wanted
    for name in sorted(gone):
        tell_dropped(tx, key, name, held[name])
    await store.drop_columns(tx, [held[name]["number"] for name in gone])
    await store.add_columns(tx, sorted(wanted - held.keys()), key.key_id)
    await store.spread(tx, tables.values())
    return tables
