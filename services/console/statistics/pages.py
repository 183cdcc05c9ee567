"""The page /statistics."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import query, whole
from services.console.statistics.domain import PERIODS, check_period, check_whose
from services.console.statistics.views import statistics
from shared.clock import now


class StatisticsPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/statistics", self._desk.page(self.show))]

    async def show(self, visit: Visit) -> Response:
        days = check_period(whole(query(visit.request, "days", 9) or "30") or 0)
        everybody = query(visit.request, "whose", 9) == "all"
        whose = check_whose(visit.caller, everybody=everybody)
        async with self._console.db.reading() as tx:
            found = await statistics(tx, whose, days, now())
        context: dict[str, Any] = {"found": found, "days": days, "everybody": everybody, "periods": PERIODS}
        return await visit.show("statistics.html", **context, in_words=in_words)


def in_words(seconds: float | None) -> str:
    """`42 s`, `13 min`, `5 h 20 min`, `3 d 4 h`; what is not known is said so (rule 30)."""
    if seconds is None:
        return "unavailable"
    whole_seconds = round(seconds)
    if whole_seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole_seconds} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {rest} min"
    return f"{hours // 24} d {hours % 24} h"
