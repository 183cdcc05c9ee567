"""Put another behavior in force, or add a line to the one that is."""

from schemas.outward import Owner
from services.agent.habits import store
from services.agent.habits.domain import Behavior, Origin, added_to, checked_behavior
from shared.db import Tx


async def change_behavior(tx: Tx, owner: Owner, text: str, origin: Origin, *, add: bool) -> Behavior:
    """The new version. Refused (code `too_long`). What came of untrusted text keeps where it came from while it stands."""
    await store.hold(tx, owner)
    now = await store.behavior(tx, owner)
    whole = checked_behavior(added_to(now.text, " ".join(text.split())) if add else text)
    if whole == now.text:
        return now
    sources = tuple(dict.fromkeys((*(now.sources if add else ()), *origin.sources)))
    made = Behavior(await store.newest_version(tx, owner) + 1, whole, now.version, sources)
    await store.add_behavior(tx, owner, made, origin)
    return made
