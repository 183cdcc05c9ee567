"""Keep a request under a name."""

from schemas.outward import Owner
from services.agent.habits import store
from services.agent.habits.domain import MOST_TOOLS, Origin, VirtualTool, checked_tool
from shared.db import Tx
from shared.errors import Conflict, Refused


async def make_tool(tx: Tx, owner: Owner, tool: VirtualTool, origin: Origin, taken: frozenset[str]) -> VirtualTool:
    """Refused when it is not valid, shadows one of the agent's own tools (`taken`) or is one too many; Conflict when the owner has one of that name."""
    made = checked_tool(tool, taken)
    await store.hold(tx, owner)
    if len(await store.tools(tx, owner)) >= MOST_TOOLS:
        raise Refused(f"you have {MOST_TOOLS} tools, which is the most; delete one first", code="too_many_tools")
    if not await store.make_tool(tx, owner, made, origin):
        raise Conflict(f"you have a tool “{made.name}” already; delete it first, or take another name", code="exists")
    return made
