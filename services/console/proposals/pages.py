"""What the agent proposes to the console: all of it, and one with what exactly it would make. Everybody sees their own, owners and admins all."""

from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.proposals import store
from services.console.proposals.domain import Row, Shown
from services.console.proposals.usecases.decide_proposal import Order, decide_proposal
from shared.errors import NotFound, SchleuseError


class ProposalPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/proposals", page(self.list)),
            Route("/proposals/{proposal_id}", page(self.one)),
            Route("/proposals/{proposal_id}/decide", page(self.decide, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        mine = None if visit.caller.may("connectors") else visit.caller.id
        async with self._console.db.reading() as tx:
            waiting, settled = await store.waiting(tx, mine), await store.settled(tx, mine)
        return await visit.show("proposals.html", undecided=waiting, settled=settled)

    async def one(self, visit: Visit) -> Response:
        return await self._show(visit, _id(visit))

    async def _show(self, visit: Visit, proposal_id: UUID, refused: SchleuseError | None = None) -> Response:
        row = await self._row(visit, proposal_id)
        if row["about"] == "job" and refused is None and not (row["state"] == "failed" or row["version"] == 0):
            return go(f"/jobs/{proposal_id}")
        status = 200 if refused is None else refused.status
        return await visit.show("proposal.html", status, shown=Shown(row), row=row, refused=refused, typed=visit.form.text("reason"))  # fmt: skip

    async def decide(self, visit: Visit) -> Response:
        order = Order(_id(visit), visit.form.text("verdict"), visit.form.text("reason"))
        try:
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await decide_proposal(tx, key, visit.caller, order, self._console.catalogue.on_changed)
                tx.after_commit(lambda: self._console.live.tell(event="proposal", item_id="proposals"))
        except SchleuseError as refused:
            if isinstance(refused, NotFound):
                raise
            return await self._show(visit, order.proposal_id, refused)
        return go(f"/proposals/{order.proposal_id}")

    async def _row(self, visit: Visit, proposal_id: UUID) -> Row:
        """NotFound for somebody else's, as for one that never was (rule 24)."""
        async with self._console.db.reading() as tx:
            row = await store.one(tx, proposal_id)
        if row is None or not (visit.caller.may("connectors") or row["owner_id"] == visit.caller.id):
            raise NotFound("There is no such proposal.")
        return row


def _id(visit: Visit) -> UUID:
    return as_uuid(visit.request.path_params["proposal_id"])
