"""Go back to the behavior before the one in force."""

from schemas.outward import Owner
from services.agent.habits import store
from services.agent.habits.domain import Behavior, Origin
from shared.db import Tx
from shared.errors import Conflict


async def undo_behavior(tx: Tx, owner: Owner, origin: Origin) -> Behavior:
    """A new version that says what the one before said; once more goes back further. Conflict (code `nothing_to_undo`)."""
    await store.hold(tx, owner)
    now = await store.behavior(tx, owner)
    if now.before == 0 and not now.text:
        raise Conflict("there is no change of behavior that could be undone", code="nothing_to_undo")
    earlier = await store.behavior_version(tx, owner, now.before)
    made = Behavior(await store.newest_version(tx, owner) + 1, earlier.text, earlier.before, earlier.sources)
    await store.add_behavior(tx, owner, made, origin)
    return made
