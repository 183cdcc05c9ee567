"""Calls that nobody settled: each is closed once, by what is known of it, and nothing stays reserved."""

from decimal import Decimal
from uuid import UUID

import pytest

from schemas.outward import Owner
from services.agent.spend.domain import CapReached, Figures
from services.agent.spend.sweep import Sweep
from services.agent.spend.usecases.close_open import Known
from shared.errors import Conflict
from shared.ids import new_id
from tests.services.agent.spend.conftest import SMALL, Till, call, somebody


async def test_what_expired_makes_room_at_once_and_is_logged_once(till: Till) -> None:
    who, brief = somebody(), till.other(life=0)
    till.caps.of[who] = Decimal("0.0012")
    held = await brief.reserve(call(who, "big"), SMALL)
    again = await till.ledger.reserve(call(who, "big"), SMALL)
    with pytest.raises(CapReached):
        await till.ledger.reserve(call(who, "big"), SMALL)
    [row] = await till.rows(who)
    assert (row["call_id"], row["kind"], row["cost"]) == (held.call.call_id, "expired", None)
    assert (await till.ledger.standing(who)).unknown == 1
    with pytest.raises(Conflict):
        await brief.settle(held, Figures(1, 1))
    await till.ledger.settle(again, Figures(1, 1))
    assert [row["kind"] for row in await till.told(who)] == ["expired", "settled"]


async def test_the_sweep_finds_what_expired_whoever_reserved_it(till: Till) -> None:
    people, brief = [somebody() for _ in range(3)], till.other(life=0)
    for who in people:
        held = await brief.reserve(call(who, "big"), SMALL)
        await brief.note(held, Figures(500, 20))
    waiting = somebody()
    await till.ledger.reserve(call(waiting, "big"), SMALL)
    sweep = Sweep(till.db, till.ledger.expire)
    assert await sweep.once() >= 3
    for who in people:
        [row] = await till.rows(who)
        assert (row["kind"], row["tokens_out"], row["cost"], row["estimated"]) == ("expired", 20, Decimal("0.00054"), True)  # fmt: skip
        assert not await till.rows(who, "reservations")
    assert len(await till.rows(waiting, "reservations")) == 1
    await sweep.once()
    async with till.db.reading() as tx:
        kept = {row[0] for row in await tx.raw.fetch("SELECT owner_id FROM app.spenders")}
    assert waiting.id in kept and not kept & {who.id for who in people}


@pytest.mark.parametrize(
    ("noted", "known", "cost", "estimated"),
    [
        (Figures(500, 20), None, "0.00054", True),
        (Figures(), None, "0.0012", True),
        (None, None, None, False),
        (None, Known(left=False), "0", False),
        (Figures(500, 20), Known(left=True), "0.00054", True),
        (Figures(500, 20), Known(left=True, figures=Figures(400, 60)), "0.00052", False),
        (None, Known(left=True), "0.0012", True),
    ],
)
async def test_a_dead_workers_calls_are_priced_by_what_is_known(
    till: Till, noted: Figures | None, known: Known | None, cost: str | None, estimated: bool
) -> None:
    who, turn = somebody(), new_id()
    held = await till.ledger.reserve(call(who, "big", turn_id=turn), SMALL)
    if noted is not None:
        await till.ledger.note(held, noted, new_id())

    async def knows(_: Owner, __: UUID | None) -> Known | None:
        return known

    again = till.other(knows=knows)
    assert await again.settle_abandoned(who, turn) == (None if cost is None else Decimal(cost))
    await again.settle_abandoned(who, turn)
    [row] = await till.rows(who)
    assert (row["kind"], row["cost"], row["estimated"]) == ("aborted", None if cost is None else Decimal(cost), estimated)  # fmt: skip
    assert len(await till.told(who)) == 1


async def test_a_free_call_of_a_dead_worker_is_a_row_too(till: Till) -> None:
    who, turn = somebody(), new_id()
    await till.ledger.reserve(call(who, "built-in", connector="", turn_id=turn), SMALL)
    assert await till.other().settle_abandoned(who, turn) == 0
    [row] = await till.rows(who)
    assert (row["kind"], row["cost"]) == ("aborted", 0)


async def test_sp_07_side_calls_are_rows_of_their_turn_and_none_starts_at_the_cap(till: Till) -> None:
    who, turn = somebody(), new_id()
    till.caps.of[who] = Decimal("0.5")
    for purpose in ("reply", "reply", "title", "summary", "tool"):
        held = await till.ledger.reserve(call(who, purpose=purpose, turn_id=turn), SMALL)
        await till.ledger.settle(held, Figures(5, 5))
    assert await till.ledger.cost_of_turn(who, turn) == Decimal("0.5")
    for purpose in ("title", "summary", "tool", "reply"):
        with pytest.raises(CapReached):
            await till.ledger.reserve(call(who, purpose=purpose, turn_id=turn), SMALL)
    assert {row["turn_id"] for row in await till.rows(who)} == {turn}
