"""What was spent, and what is left, from the ledger itself (rule 1)."""

from zoneinfo import ZoneInfo

from services.agent.spend.domain import Spending, money
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool


class SpendArguments(Arguments):
    pass


class SpendTool:
    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    async def spend(self, asked: Asked, given: SpendArguments) -> Found:
        """Exact dollars as text; `frees_at` in the owner's own zone."""
        found = await self._spending.standing(asked.me.account)
        frees_at = found.frees_at and found.frees_at.astimezone(ZoneInfo(asked.me.zone)).isoformat(timespec="minutes")
        value = {
            "spent": money(found.spent), "reserved": money(found.reserved), "cap": None if found.cap is None else money(found.cap),
            "left": None if found.left is None else money(found.left), "frees_at": frees_at, "frees": money(found.frees),
            "of": "all guests together" if asked.me.is_guest else "the user", "calls_of_unknown_cost": found.unknown,
        }  # fmt: skip
        left = "no cap" if found.left is None else f"${money(found.left)} left"
        return Found(value, f"${money(found.spent)} in 24 hours, {left}")


def make_tools(spending: Spending) -> tuple[Tool, ...]:
    about = "What the user's paid calls cost in the last 24 hours, in exact US dollars, their cap, what is left, and when something frees up."
    return (Tool("spend", about, SpendArguments, SpendTool(spending).spend, EVERYBODY),)
