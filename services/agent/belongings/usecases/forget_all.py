"""Delete what the agent keeps of a person. Figures without words stay (STAYS)."""

from collections.abc import Sequence

from schemas.outward import Owner
from services.agent.belongings.domain import Holding


async def forget_all(holdings: Sequence[Holding], owner: Owner) -> dict[str, int]:
    """How many things of each holding. Doing it again deletes what came since; a failure in between leaves the rest for then."""
    return {holding.name: await holding.forget(owner) for holding in holdings}
