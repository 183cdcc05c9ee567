"""A browser says in which time zone it is: kept for its person (rule 6)."""

from dataclasses import dataclass

from schemas.outward import Owner
from services.agent.owners import store
from services.agent.owners.zones import is_zone, replaced
from shared.clock import now
from shared.db import Tx


@dataclass(frozen=True)
class Zone:
    """The zone that counts, and what to tell the person when it is not the one that the browser named."""

    name: str
    notice: str = ""


async def keep_zone(tx: Tx, owner: Owner, named: str) -> Zone:
    """`tx` acts for the owner. An unknown zone changes nothing."""
    kept = await store.zone_of(tx, owner)
    if not is_zone(named):
        return unknown_zone(named, kept)
    if named != kept:
        await store.keep_zone(tx, owner, named, now())
    return Zone(named)


def unknown_zone(named: str, kept: str | None) -> Zone:
    name = replaced(named, kept)
    shown = "".join(each for each in named[:64] if each.isascii() and each.isprintable())
    return Zone(
        name,
        f"Your browser names a time zone that is not known here ({shown!r}). Times are in {name} until it names another.",
    )
