"""Claims by form and by the page's own script: take, renew, take over, give up."""

from uuid import UUID

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.console.claims.usecases.claim_item import claim_item
from services.console.claims.usecases.release_claim import release_claim
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.queue.pages import filter_query


class ClaimPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/{item_id}/claim", page(self.claim, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/take", page(self.take, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/release", page(self.release, "decide"), methods=["POST"]),
        ]

    async def claim(self, visit: Visit) -> Response:
        """Renewed by the page while it is open: nothing to say, or that somebody else has it, or that nothing waits."""
        item_id = as_uuid(visit.request.path_params["item_id"])
        async with self._console.db.transaction() as tx:
            found = await claim_item(tx, visit.caller, item_id, visit.form.mark("tab"))
        if found.begun:
            self._tell(item_id)
        return Response(status_code=204) if found.held else PlainTextResponse("taken")

    async def take(self, visit: Visit) -> Response:
        """Explicitly from somebody else, who is told."""
        item_id = as_uuid(visit.request.path_params["item_id"])
        async with self._console.db.transaction() as tx:
            found = await claim_item(tx, visit.caller, item_id, over=True)
        self._tell(item_id, by=visit.caller.name, person=found.lost_by)
        return go(f"/queue/{item_id}{filter_query(visit.request)}")

    async def release(self, visit: Visit) -> Response:
        item_id = as_uuid(visit.request.path_params["item_id"])
        async with self._console.db.transaction() as tx:
            given_up = await release_claim(tx, visit.caller, item_id, visit.form.mark("tab"))
        if given_up:
            self._tell(item_id)
        return go(f"/queue{filter_query(visit.request)}")

    def _tell(self, item_id: UUID, **more: str | None) -> None:
        self._console.live.tell(event="claim", item_id=str(item_id), **more)
