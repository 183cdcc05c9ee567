"""Undo by form: one decision, or all that were made with one word."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.people.domain import Caller
from services.console.queue.jobs import LISTED, Job, Jobs, Outcome, wait
from services.console.queue.pages import filter_query
from services.console.queue.usecases.wait_for import wait_for_verdicts
from services.console.undo import views
from services.console.undo.usecases.undo_decision import undo_decision
from services.console.undo.usecases.undo_together import Undoing, undo_together
from shared.errors import NotFound

AT_ONCE = 100
PATIENCE = 10.0
ANSWERS, SLOWEST = 60.0, 20
"""Seconds to wait for the lock: first until it has answered what is to be undone, then until it has undone it."""


class UndoPages:
    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        self._desk, self._console, self._jobs = desk, desk.console, jobs

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/queue/undo", page(self.undo_batch, "decide"), methods=["POST"]),
            Route("/queue/{item_id}/undo", page(self.undo_one, "decide"), methods=["POST"]),
        ]

    async def undo_one(self, visit: Visit) -> Response:
        """The item's page shows what came of it; what was refused says why."""
        item_id = as_uuid(visit.request.path_params["item_id"])
        statement_hash = visit.form.mark("hash")
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
        job = self._jobs.start(visit.caller, "undone", len(hashes), partial(self._undo, visit.caller, hashes))
        if not await wait(job, PATIENCE):
            return go(f"/queue/together/{job.id}")
        if len(job.done) == 1 and len(hashes) == 1:
            return go(f"/queue/{job.done[0].item_id}")
        status = 503 if job.fault else 200 if job.done else 409
        return await visit.show("together_done.html", status, job=job, listed=LISTED, undo=[])

    async def _undo(self, caller: Caller, hashes: Sequence[str], job: Job) -> None:
        made = Undoing()
        await wait_for_verdicts(self._console.db, self._console.live, list(hashes), ANSWERS + len(hashes) / SLOWEST)
        for first in range(0, len(hashes), AT_ONCE):
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                await undo_together(tx, key, caller, hashes[first : first + AT_ONCE], made)
            job.sent = min(first + AT_ONCE, len(hashes))
        job.refused += [Outcome(UUID(item_id), title, why) for item_id, title, why, _ in made.refused if item_id]
        await self._answers({each.statement_hash: each.item_id for each in made.sent}, job)

    async def _answers(self, sent: dict[str, UUID], job: Job) -> None:
        """What the lock says to each: by hash, the item."""
        found = (
            await wait_for_verdicts(self._console.db, self._console.live, list(sent), ANSWERS + len(sent) / SLOWEST)
            if sent
            else {}
        )
        async with self._console.db.reading() as tx:
            titles = await views.titles(tx, list(sent.values()))
        for statement_hash, item_id in sent.items():
            outcome, reason = found.get(statement_hash, ("sent", ""))
            if outcome == "refused":
                job.refused.append(Outcome(item_id, titles[item_id], f"The lock refused it: {reason}."))
            else:
                job.done.append(Outcome(item_id, titles[item_id], "" if outcome == "applied" else "on its way"))
