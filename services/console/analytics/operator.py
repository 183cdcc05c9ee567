"""The operator's figures, and the copy in ClickHouse."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.analytics import store, views
from services.console.analytics.domain import check_engine
from services.console.analytics.reading import answer_of, read_question
from services.console.analytics.usecases.rebuild_warehouse import rebuild_warehouse
from services.console.analytics.usecases.roll_up import roll_up
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.parts import Console

Args = dict[str, Any]


class AnalyticsOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._all = (console.db, console.warehouse, console.settings)
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "analytics.ask": self.ask,
            "analytics.state": self.state,
            "analytics.sync": self.sync,
            "analytics.rebuild": self.rebuild,
            "analytics.merge": self.merge,
        }

    async def ask(self, args: Args) -> Args:
        """args: as `GET /api/v1/analytics`."""
        reason = str(args.get("reason") or "")
        engine = check_engine(str(args.get("engine") or "postgres"), reason)
        compare = bool(args.get("compare"))
        answer = await roll_up(*self._all, read_question(args), engine, reason, "operator", compare=compare)
        return answer_of(answer)

    async def state(self, _: Args) -> Args:
        """Whether ClickHouse can be asked, what it holds, how many pieces it was not told of."""
        async with self._console.db.reading() as tx:
            found, waiting = await views.state(tx), await store.count_left(tx)
            runs = await views.newest_runs(tx)
        synced = found["synced_at"]
        asked = [{**run, "at": run["at"].isoformat()} for run in runs]
        there = {"installed": self._console.warehouse.installed, "running": self._console.warehouse.running}
        return {**found, **there, "synced_at": synced and synced.isoformat(), "waiting": waiting, "asked": asked}

    async def sync(self, _: Args) -> Args:
        return {"rows": await sync_warehouse(*self._all)}

    async def rebuild(self, _: Args) -> Args:
        return {"rows": await rebuild_warehouse(*self._all)}

    async def merge(self, _: Args) -> Args:
        await self._console.warehouse.ask("merge")
        return {}
