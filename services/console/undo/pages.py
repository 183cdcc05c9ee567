"""Undo by form: one decision, or all that were made with one word."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.queue.pages import filter_query
from services.console.queue.usecases.wait_for import wait_for_verdicts
from services.console.undo import views
from services.console.undo.usecases.undo_decision import undo_decision
from services.console.undo.usecases.undo_together import Undoing, undo_together
from shared.errors import NotFound

AT_ONCE = 100
PATIENCE = 10.0
"""Seconds to wait for the lock: first until it has answered what is to be undone, then until it has undone it."""


class UndoPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/undo", page(self.undo_batch, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/undo", page(self.undo_one, "decide"), methods=["POST"]),
        ]

    async def undo_one(self, visit: Visit) -> Response:
        """The item's page shows what came of it; what was refused says why."""
        item_id = as_uuid(visit.request.path_params["item_id"])
        statement_hash = visit.form.text("hash")
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            sent = await undo_decision(tx, key, visit.caller, statement_hash, visit.form.text("reason"))
        if sent.item_id != item_id:
            raise NotFound("There is no such decision on this item.")
        return go(f"/queue/{item_id}{filter_query(visit.request)}")

    async def undo_batch(self, visit: Visit) -> Response:
        """All that were decided with one word; one of them alone goes to its page."""
        async with self._console.db.reading() as tx:
            hashes = await views.hashes_of(tx, as_uuid(visit.form.text("batch")))
        if not hashes:
            raise NotFound("There is no such decision.")
        await wait_for_verdicts(self._console.db, self._console.live, hashes, PATIENCE)
        made = await self._undo(visit, hashes)
        answers = await self._answers(made)
        if len(hashes) == 1 and not made.refused and not answers:
            return go(f"/queue/{made.sent[0].item_id}")
        refused = [(item_id, title, why) for item_id, title, why, _ in made.refused] + answers
        done = len(made.sent) - len(answers)
        return await visit.show("undo_done.html", 409 if not done else 200, done=done, refused=refused)

    async def _undo(self, visit: Visit, hashes: Sequence[str]) -> Undoing:
        made = Undoing()
        for first in range(0, len(hashes), AT_ONCE):
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await undo_together(tx, key, visit.caller, hashes[first : first + AT_ONCE], made)
        return made

    async def _answers(self, made: Undoing) -> list[tuple[str, str, str]]:
        """What the lock refused: (item id, title, why)."""
        hashes = [each.statement_hash for each in made.sent]
        found = await wait_for_verdicts(self._console.db, self._console.live, hashes, PATIENCE) if hashes else {}
        ids = {each.statement_hash: each.item_id for each in made.sent}
        return [
            (str(ids[each]), "", f"The lock refused it: {reason}.")
            for each, (outcome, reason) in found.items()
            if outcome == "refused"
        ]
