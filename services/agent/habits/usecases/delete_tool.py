"""Take a virtual tool away."""

from schemas.outward import Owner
from services.agent.habits import store
from shared.db import Tx
from shared.errors import NotFound


async def delete_tool(tx: Tx, owner: Owner, name: str) -> None:
    """NotFound when the owner has none of that name."""
    if not await store.delete_tool(tx, owner, name):
        raise no_such(name)


def no_such(name: str) -> NotFound:
    return NotFound(f"you have no tool “{name[:64]}”; list_tools shows those that you have")
