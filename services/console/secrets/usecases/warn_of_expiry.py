"""Owners and admins are told two weeks and three days before a secret expires, and when it has; each once."""

from datetime import datetime

from services.console.notices import store as notices
from services.console.notices.domain import Notice
from services.console.secrets import store
from services.console.secrets.domain import WARN_BEFORE, page_of, warn
from shared.db import Tx


async def warn_of_expiry(tx: Tx, at: datetime) -> list[Notice]:
    """What was written."""
    found: list[Notice] = []
    people = await store.deciders(tx)
    for row in await store.running_out(tx, at + WARN_BEFORE[0]):
        told = warn(row["place"], row["expires_at"], at)
        if told is None or told.stage == row["warned"] or not await store.mark_warned(tx, told.place, told.stage):
            continue
        found += [Notice(each, "secret", told.text, page_of(told.place)) for each in people]
    if found:
        await notices.add(tx, found, at)
    return found
