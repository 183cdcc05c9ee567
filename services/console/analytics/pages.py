"""The page /analytics/figures: figures over time, by either engine, with what they cost."""

from typing import Any
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.analytics import store, views
from services.console.analytics.domain import (
    BUCKETS,
    BY,
    KINDS,
    SOURCES,
    Answer,
    check_engine,
    check_may,
)
from services.console.analytics.reading import PERIODS, read_question
from services.console.analytics.showing import COUNTED, in_time, shown
from services.console.analytics.usecases.roll_up import roll_up
from services.console.desk import Desk, Visit
from services.console.forms import query
from services.console.queue import views as queue

FIELDS = ("source", "bucket", "by", "days", "since", "until", "kind", "item", "lang", "engine", "reason", "compare")
ALL_OF_IT = [(source, by) for source, each in BY.items() for by in each]


class AnalyticsPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/analytics/figures", self._desk.page(self.figures))]

    async def figures(self, visit: Visit) -> Response:
        given = {name: query(visit.request, name, 400) for name in FIELDS}
        if given["by"] not in BY.get(given["source"] or "signals", ()):  # type: ignore[call-overload]
            given["by"] = "none"  # another source was chosen
        if given["source"] not in ("", "signals"):
            given |= {"kind": "", "item": "", "lang": ""}
        question = read_question(given)
        check_may(visit.caller, question.source)
        if given["compare"]:
            check_engine("clickhouse", given["reason"])
        engine = check_engine(given["engine"] or "postgres", given["reason"])
        parts = (self._console.db, self._console.warehouse, self._console.settings)
        answer = await roll_up(
            *parts, question, engine, given["reason"], visit.caller.name, compare=bool(given["compare"])
        )
        return await self._show(visit, given, answer)

    async def _show(self, visit: Visit, given: dict[str, str], answer: Answer) -> Response:
        async with self._console.db.reading() as tx:
            state, waiting = await views.state(tx), await store.count_left(tx)
            runs, languages = await views.newest_runs(tx), await queue.languages(tx)
            ids = [UUID(point.key) for point in answer.points if answer.question.by == "item" and point.key]
            items = await queue.items_by_id(tx, ids[:1000]) if ids else []
        names = {str(item["item_id"]): f"{item['title']} ({item['lang']})" for item in items}
        facts: dict[str, Any] = {
            "given": given,
            "answer": answer,
            "question": answer.question,
            "shown": shown(answer, visit.words, names),
            "state": state,
            "waiting_pieces": waiting,
            "runs": runs,
            "installed": self._console.warehouse.installed,
            "sources": [each for each in SOURCES if each == "signals" or visit.caller.may("switch")],
            "buckets": BUCKETS,
            "divisions": BY[answer.question.source],
            "signal_kinds": KINDS,
            "item_languages": languages,
            "periods": sorted({*PERIODS, int(given["days"] or 30)}),
            "counted": COUNTED[answer.question.source],
            "in_time": lambda taken: in_time(taken, visit.words),
        }
        return await visit.show("analytics_figures.html", **facts)
