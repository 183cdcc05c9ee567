"""Switch a virtual tool on or off."""

from schemas.outward import Owner
from services.agent.habits import store
from services.agent.habits.usecases.delete_tool import no_such
from shared.db import Tx


async def switch_tool(tx: Tx, owner: Owner, name: str, *, enabled: bool) -> None:
    """NotFound when the owner has none of that name."""
    if not await store.switch_tool(tx, owner, name, enabled=enabled):
        raise no_such(name)
