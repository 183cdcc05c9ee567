"""One word on many items: signed and sent in portions, then the lock's answers, each item for itself."""

from collections.abc import Sequence
from uuid import UUID

from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.queue import mass_views
from services.console.queue.domain import Order
from services.console.queue.jobs import Job, Outcome
from services.console.queue.usecases.decide_item import Decided, decide_item
from services.console.queue.usecases.wait_for import wait_for_batch
from shared.errors import Conflict, NotFound, Refused

AT_ONCE = 100
"""Decisions in one transaction: enough to be quick, few enough not to hold many rows long."""
ANSWERS, SLOWEST = 60.0, 20
"""Seconds to wait for the lock's answers, and a second more for so many items; what is still on its way then is shown so."""
Wanted = tuple[Order, str]
"""What is to be decided, and the item's title."""


class Deciding:
    """The work of a job. Who moved on since is left out, with the reason."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def run(self, caller: Caller, batch: UUID, orders: Sequence[Wanted], job: Job) -> None:
        """All orders are of this batch. What the lock took or is still thinking about, and what was refused, stands in the job."""
        sent: list[tuple[Decided, str]] = []
        in_order = sorted(orders, key=lambda each: each[0].item_id)
        for first in range(0, len(in_order), AT_ONCE):
            sent += await self._some(caller, in_order[first : first + AT_ONCE], job)
            job.sent = min(first + AT_ONCE, len(in_order))

        def open_ones(count: int) -> None:
            job.answered = len(sent) - count

        seconds = ANSWERS + len(sent) / SLOWEST
        await wait_for_batch(self._console.db, self._console.live, batch, seconds, open_ones)
        async with self._console.db.reading() as tx:
            found = await mass_views.outcomes_of_batch(tx, batch)
        for decided, title in sent:
            outcome, reason = found.get(decided.statement_hash, ("sent", ""))
            if outcome == "refused":
                job.refused.append(Outcome(decided.item_id, title, f"The lock refused it: {reason}"))
            else:
                job.done.append(Outcome(decided.item_id, title, "" if outcome == "applied" else "on its way"))

    async def _some(self, caller: Caller, orders: Sequence[Wanted], job: Job) -> list[tuple[Decided, str]]:
        sent: list[tuple[Decided, str]] = []
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            for order, title in orders:
                try:
                    sent.append((await decide_item(tx, key, caller, order), title))
                except (Conflict, Refused, NotFound) as error:
                    job.refused.append(Outcome(order.item_id, title, error.message))
        return sent
