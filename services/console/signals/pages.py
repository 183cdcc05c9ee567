"""Analytics: what visitors did, per item and per day; their messages as text that can do nothing."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import query
from services.console.signals import views


class SignalPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [Route("/analytics", page(self.all)), Route("/analytics/item", page(self.one))]

    async def all(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            totals, days = await views.totals(tx), await views.by_day(tx)
            rows, keys = await views.by_item(tx), await views.count_keys(tx)
            messages = await views.messages(tx, limit=20)
        series = views.filled(days, "views")
        return await visit.show(
            "analytics.html", totals=totals, days=days, series=series, rows=rows, keys=keys, messages=messages
        )

    async def one(self, visit: Visit) -> Response:
        key = query(visit.request, "key", 2000)
        async with self._console.db.reading() as tx:
            days, votes = await views.by_day(tx, key), await views.votes_of(tx, key)
            reactions, messages = await views.reactions_of(tx, key), await views.messages(tx, key)
            about = await views.about(tx, key)
        return await visit.show(
            "analytics_item.html",
            key=key,
            about=about,
            days=days,
            series=views.filled(days, "views"),
            votes=votes,
            reactions=reactions,
            messages=messages,
        )
