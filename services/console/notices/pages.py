"""The page behind the bell."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.notices import views
from services.console.notices.usecases.mark_read import mark_read
from shared.clock import now


class NoticePages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/notices", page(self.list)),
            Route("/notices/read", page(self.read), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            rows = await views.newest(tx, visit.caller.id, now())
        return await visit.show("notices.html", rows=rows)

    async def read(self, visit: Visit) -> Response:
        """One notice, or all of them when none is named."""
        one = visit.form.text("notice")
        async with self._console.db.transaction() as tx:
            await mark_read(tx, visit.caller, as_uuid(one) if one else None)
        return go("/notices")
