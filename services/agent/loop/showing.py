"""What a turn's calls have cost, and what is left, for whoever looks on. The ledger says it; this is display only."""

from services.agent.loop.figures import money
from services.agent.loop.running import Turn
from services.agent.spend.domain import Spending


async def show_cost(turn: Turn, spending: Spending) -> None:
    standing = await spending.standing(turn.me.account)
    frees_at = standing.frees_at.isoformat() if standing.frees_at else None
    said = {"cost": money(turn.bill.cost), "spent": money(standing.spent), "cap": money(standing.cap)}
    turn.happen("cost", said | {"left": money(standing.left), "frees_at": frees_at, "frees": money(standing.frees)})
