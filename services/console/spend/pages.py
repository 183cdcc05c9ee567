"""The page /spend."""

from decimal import Decimal
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import query, whole
from services.console.spend.domain import GROUPS, PERIODS, check_by, check_days, check_whose, dollars
from services.console.spend.reading import read_spend
from shared.clock import now


class SpendPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/spend", self._desk.page(self.show))]

    async def show(self, visit: Visit) -> Response:
        days = check_days(whole(query(visit.request, "days", 9) or "30"))
        by = check_by(query(visit.request, "by", 40) or "owner")
        everybody = query(visit.request, "whose", 9) == "all"
        whose = check_whose(visit.caller, everybody=everybody)
        async with self._console.db.reading() as tx:
            found = await read_spend(tx, by, whose, days, now())
        periods = sorted({*PERIODS, days})
        context: dict[str, Any] = {"found": found, "by": by, "days": days, "periods": periods, "everybody": everybody}
        return await visit.show("spend.html", **context, groups=GROUPS, dollars=dollars, cents=cents)


def cents(amount: Decimal) -> int:
    """For the chart's bars; the table beside it has the exact figures."""
    return int((amount * 100).to_integral_value())
