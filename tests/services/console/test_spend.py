"""Spend as people see it: the agent's rows as they came, added up exactly, by whom one may see."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agent.v1 import Usage, UsageRecorded
from schemas.outward import Owner
from services.console.people.domain import Caller
from services.console.spend.api import figures_of
from services.console.spend.domain import By, check_by, check_days, check_whose, dollars, plain
from services.console.spend.reading import Spend, read_spend
from services.console.spend.usecases.record_usage import record_usage
from shared.clock import now
from shared.errors import Forbidden, Refused
from shared.ids import new_id
from tests.services.console.conftest import Desk


def row(who: str, cost: str | None, ago: timedelta = timedelta(), **more: Any) -> Usage:
    at = now() - ago
    said: dict[str, Any] = {
        "call_id": new_id(), "turn_id": new_id(), "owner": Owner(kind="user", id=who), "at": at, "settled_at": at, "kind": "settled",
        "connector": "shop", "model": "m", "surface": "agent", "app": "chat", "purpose": "reply", "tokens_in": 10, "tokens_out": 1, "cost": cost,
    }  # fmt: skip
    return Usage(**said | more)


async def record(desk: Desk, *rows: Usage) -> None:
    async with desk.db.transaction() as tx:
        await record_usage(tx, [UsageRecorded(rows=rows)])


async def spend(desk: Desk, by: By, who: str | None, days: int = 7, at: datetime | None = None) -> Spend:
    async with desk.db.reading() as tx:
        return await read_spend(tx, by, who, days, at or now())


async def test_rows_are_counted_once_and_added_up_exactly(desk: Desk) -> None:
    who, turn = str(uuid4()), new_id()
    rows = [row(who, "0.1", turn_id=turn, purpose=purpose) for purpose in ("reply", "reply", "title")]
    rows += [row(who, "0.00000012"), row(who, None, estimated=True, model="odd"), row(who, "7", timedelta(days=8))]
    await record(desk, *rows)
    await record(desk, *rows[:3])
    found = (await spend(desk, "turn", who)).report
    assert (found.total.calls, found.total.cost) == (5, Decimal("0.30000012"))
    assert (found.total.unknown, found.total.estimated) == (1, 1)
    assert {UUID(each.key): each.cost for each in found.lines}[turn] == Decimal("0.3")
    assert [each.name for each in (await spend(desk, "model", who)).report.lines] == ["shop/m", "shop/odd"]
    assert [each.name for each in (await spend(desk, "app", who)).report.lines] == ["chat: reply", "chat: title"]
    days = (await spend(desk, "day", who, 30)).report.lines
    assert [each.cost for each in days] == [Decimal("0.30000012"), Decimal(7)]


async def test_a_day_is_what_the_cap_looks_at(desk: Desk) -> None:
    who = str(uuid4())
    await record(desk, row(who, "1", timedelta(hours=24, seconds=5)), row(who, "2", timedelta(hours=24, seconds=-5)))
    found = await spend(desk, "owner", who, 1)
    assert found.report.total.cost == 2
    [mine] = found.caps
    assert (mine.spent, mine.cap, mine.left) == (Decimal(2), Decimal("5.00"), Decimal("3.00"))
    assert figures_of(found).last_24_hours[0].left == "3"


async def test_guests_are_one_line_and_have_a_cap_of_their_own(desk: Desk) -> None:
    await record(desk, row("guests", "0.25", owner=Owner(kind="guest", id="guests")))
    found = await spend(desk, "owner", None, 1)
    guests = next(each for each in found.caps if each.key == "guest:guests")
    assert (guests.name, guests.cap) == ("all guests", Decimal("1.00"))
    assert any(each.name == "all guests" for each in found.report.lines)


async def test_everybodys_spend_is_for_owners_and_admins(desk: Desk) -> None:
    mine, other = str(uuid4()), str(uuid4())
    await record(desk, row(mine, "1"), row(other, "2"))
    assert (await spend(desk, "owner", mine)).report.total.cost == 1
    assert check_whose(Caller(mine, "Kim", "viewer"), everybody=False) == mine
    assert check_whose(Caller(mine, "Kim", "admin"), everybody=True) is None
    with pytest.raises(Forbidden, match="owners and admins"):
        check_whose(Caller(mine, "Kim", "moderator"), everybody=True)


def test_what_is_asked_is_checked_and_money_is_written_exactly() -> None:
    for bad in ("", "owner; drop", "secret"):
        with pytest.raises(Refused):
            check_by(bad)
    for days in (0, 366, -1, None):
        with pytest.raises(Refused):
            check_days(days)
    assert [dollars(each) for each in (Decimal(5), Decimal("0.00000004"), Decimal("1234.5"), None)] == ["$5.00", "$0.00000004", "$1,234.50", "unavailable"]  # fmt: skip
    assert [plain(each) for each in (Decimal("5.00"), Decimal("100"), Decimal("0E-18"), Decimal("0.10"))] == ["5", "100", "0", "0.1"]  # fmt: skip
