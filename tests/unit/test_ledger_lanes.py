"""Bookings of one account that are written together: each has its own result, and what ends is not lost while the database is away."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from schemas.outward import Owner
from services.agent.spend import lanes
from services.agent.spend.bookings import Close, Progress, Taken
from services.agent.spend.domain import Figures
from services.agent.spend.lanes import Lanes
from shared.errors import Conflict, SchleuseError, Transient

WHO = Owner(kind="user", id="7")
TAKEN = Taken(datetime.now(UTC), datetime.now(UTC))


def close(cost: str = "1") -> Close:
    return Close(uuid4(), "settled", Figures(1, 1), Decimal(cost))


def progress() -> Progress:
    return Progress(uuid4(), Figures(1, 1), None)


class Writing:
    """Answers each try with the next of `answers`: an error for the whole transaction, or a function of its bookings."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.tries, self.left = list(answers), [], []  # type: ignore[var-annotated]
        self.lanes = Lanes(self.book, lambda account, booking, found: self.left.append((booking, found)))

    async def book(self, _: Owner, bookings: Sequence[Any]) -> Sequence[Any]:
        self.tries.append(list(bookings))
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, SchleuseError):
            raise answer
        return answer(bookings) if answer else [getattr(each, "cost", None) for each in bookings]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "AGAIN", 0.001)


async def test_what_comes_while_one_is_written_goes_together() -> None:
    writing = Writing()
    first = asyncio.ensure_future(writing.lanes.submit(WHO, close("1")))
    await asyncio.sleep(0)
    rest = [writing.lanes.submit(WHO, close(str(n))) for n in range(2, 6)]
    assert await asyncio.gather(first, *rest) == [Decimal(n) for n in range(1, 6)]
    assert [len(each) for each in writing.tries] == [1, 4]


async def test_one_that_cannot_be_written_takes_no_other_with_it() -> None:
    bad = Conflict("settled")
    writing = Writing(SchleuseError("all of them"), None, bad, None)
    found = await asyncio.gather(*(writing.lanes.submit(WHO, close()) for _ in range(3)), return_exceptions=True)
    assert found == [Decimal(1), bad, Decimal(1)]


async def test_what_ends_waits_for_a_database_that_is_away() -> None:
    writing = Writing(Transient("away"), Transient("away"))
    assert await writing.lanes.submit(WHO, close("3")) == Decimal(3)
    assert len(writing.tries) == 3


async def test_a_row_that_was_written_although_its_answer_was_lost_is_no_conflict() -> None:
    writing = Writing(Transient("the answer was lost"), lambda bookings: [Conflict("settled") for _ in bookings])
    assert await writing.lanes.submit(WHO, close("3")) == Decimal(3)


async def test_what_begins_is_told_at_once() -> None:
    writing = Writing(Transient("away"))
    with pytest.raises(Transient):
        await writing.lanes.submit(WHO, progress())
    assert len(writing.tries) == 1


async def test_what_was_written_for_somebody_who_left_is_told() -> None:
    writing = Writing(lambda bookings: [TAKEN for _ in bookings])
    asked = progress()
    gone = asyncio.ensure_future(writing.lanes.submit(WHO, asked))
    await asyncio.sleep(0)
    gone.cancel()
    await writing.lanes.drained()
    assert writing.left == [(asked, TAKEN)]
