"""An item's whole story: hops of its newest revision, receipt, what happened since, every state with who and why."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import as_uuid
from services.console.queue import views
from services.console.queue.hops import hops
from services.console.queue.reading import read_item
from services.console.signals import views as signals


class HistoryPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/queue/{item_id}/history", self._desk.page(self.history))]

    async def history(self, visit: Visit) -> Response:
        item_id = as_uuid(visit.request.path_params["item_id"])
        reading = await read_item(self._console.db, item_id)
        shown = reading.item["published_revision"]
        if shown and shown != reading.revision["revision"]:
            reading = await read_item(self._console.db, item_id, shown)
        key = str(item_id)
        async with self._console.db.reading() as tx:
            rows = await views.item_history(tx, item_id)
            submitted = await views.submitted_at(tx, reading.revision["submission_id"])
            days = await signals.by_day(tx, key, 30)
        item = reading.item
        public_url = self._console.reader_url(item, reading.about)
        facts: dict[str, Any] = {
            "hops": hops(reading, rows, submitted),
            "days": days,
            "views": signals.filled(days, "views"),
        }
        return await visit.show("history.html", reading=reading, rows=rows, key=key, public_url=public_url, **facts)
