"""A moderator's figures: counted from what the lock accepted, and not known where nothing tells them."""

from datetime import timedelta
from uuid import uuid4

import pytest

from services.console.people.domain import Caller
from services.console.statistics.domain import Statistics, check_period, check_whose
from services.console.statistics.pages import in_words
from services.console.statistics.views import statistics
from shared.clock import now
from shared.errors import Forbidden, Refused
from tests.services.console.conftest import MARA, Desk


async def figures(desk: Desk, who: str | None, days: int = 7) -> Statistics:
    async with desk.db.reading() as tx:
        return await statistics(tx, who, days, now())


async def test_decisions_are_counted_by_verdict_and_day_with_the_time_they_took(desk: Desk) -> None:
    who = Caller(str(uuid4()), "Vera", "moderator")
    for verdict in ("approve", "approve", "reject", "request_changes"):
        made = await desk.queue()
        word = await desk.decide(made.order(verdict, "because"), who)
        state = {"approve": "approved", "reject": "rejected"}.get(verdict, "changes_requested")
        await desk.move(made, state, 2, verdict=verdict, statement_hash=word.statement_hash)  # type: ignore[arg-type]
        async with desk.db.transaction() as tx:
            await tx.raw.execute(
                "UPDATE app.revisions SET queued_at = queued_at - interval '90 seconds' WHERE item_id = $1",
                made.item_id,
            )
    found = await figures(desk, who.id)
    assert len(found.days) == 7
    assert (found.total.approve, found.total.reject, found.total.request_changes, found.total.undone) == (2, 1, 1, 0)
    assert (found.days[-1].all, found.days[0].all) == (4, 0)
    assert found.total.median is not None and 90 <= found.total.median < 100
    assert found.total.p90 is not None and found.total.p90 >= found.total.median
    everybody = await figures(desk, None)
    assert {each.name for each in everybody.people} >= {"Vera"}
    assert everybody.waiting >= 0


async def test_what_nothing_tells_is_unavailable_and_not_zero(desk: Desk) -> None:
    found = await figures(desk, str(uuid4()))
    assert (found.total.all, found.total.median, found.total.p90) == (0, None, None)
    assert in_words(found.total.median) == "unavailable"
    made = await desk.queue()
    who = Caller(str(uuid4()), "Uwe", "moderator")
    word = await desk.decide(made.order(), who)
    await desk.move(made, "approved", 2, verdict="approve", statement_hash=word.statement_hash)
    async with desk.db.transaction() as tx:  # the clock was stepped back between
        await tx.raw.execute(
            "UPDATE app.revisions SET queued_at = $2 WHERE item_id = $1", made.item_id, now() + timedelta(hours=1)
        )
    found = await figures(desk, who.id)
    assert (found.total.approve, found.total.median) == (1, None)


def test_everybodys_figures_are_for_owners_and_admins() -> None:
    assert check_whose(MARA, everybody=False) == MARA.id
    with pytest.raises(Forbidden):
        check_whose(MARA, everybody=True)
    assert check_whose(Caller("a", "Ada", "admin"), everybody=True) is None


def test_a_period_is_one_of_a_few() -> None:
    assert check_period(30) == 30
    with pytest.raises(Refused, match="1, 7, 30, 90, 365"):
        check_period(12)


@pytest.mark.parametrize(
    ("seconds", "words"), [(4.21, "4.2 s"), (61, "61 s"), (780, "13 min"), (19200, "5 h 20 min"), (273600, "3 d 4 h")]
)
def test_times_are_said_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
