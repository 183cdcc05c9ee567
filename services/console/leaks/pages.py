"""What the leak guard watches, and where it found something."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.leaks import views

LATELY = 50


class LeakPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/leaks", self._desk.page(self.show))]

    async def show(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            state, watched, found = await views.state(tx), await views.watched(tx), await views.lately(tx, LATELY)
        return await visit.show("leaks.html", now_is=state, watched=watched, found=found)
