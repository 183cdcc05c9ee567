"""Rules 1 to 3: reserved before, settled once, never above the cap, exact to the last place."""

import asyncio
from decimal import Decimal

import pytest

from schemas.outward import Owner
from services.agent.spend.domain import CapReached, Figures
from shared.errors import Conflict, Refused
from tests.services.agent.spend.conftest import SMALL, Till, call, somebody


async def test_sp_05_a_thousand_tiny_turns_add_up_exactly(till: Till) -> None:
    who = somebody()

    async def turn() -> None:
        held = await till.ledger.reserve(call(who, "token"), SMALL)
        assert await till.ledger.settle(held, Figures(1, 2)) == Decimal("0.00000012")

    await asyncio.gather(*(turn() for _ in range(1000)))
    assert (await till.ledger.standing(who)).spent == Decimal("0.00012")
    assert sum(Decimal(row["cost"]) for row in await till.told(who)) == Decimal("0.00012")


async def test_sp_05_ten_tenths_reach_the_cap_exactly(till: Till) -> None:
    who = somebody()
    for _ in range(10):
        await till.ledger.settle(await till.ledger.reserve(call(who), SMALL), Figures(3, 3))
    standing = await till.ledger.standing(who)
    assert (standing.spent, standing.reserved, standing.left) == (Decimal(1), Decimal(0), Decimal(0))
    with pytest.raises(CapReached) as refused:
        await till.ledger.reserve(call(who), SMALL)
    assert refused.value.code == "cap"
    assert "$1.00 of $1.00 spent in 24 hours, this needs $0.10. $" in refused.value.message
    assert "frees up at" in refused.value.message and refused.value.enough_at is not None


async def test_what_runs_counts_until_it_is_settled(till: Till) -> None:
    who = somebody()
    held = [await till.ledger.reserve(call(who), SMALL) for _ in range(10)]
    with pytest.raises(CapReached, match=r"and \$1.00 reserved by running calls.*frees up when running calls end"):
        await till.ledger.reserve(call(who), SMALL)
    await till.ledger.settle(held[0], Figures(0, 0), "aborted")
    standing = await till.ledger.standing(who)
    assert (standing.spent, standing.reserved) == (Decimal("0.1"), Decimal("0.9"))
    rows = await till.rows(who)
    assert [(row["kind"], row["reserved"], row["cost"]) for row in rows] == [("aborted", Decimal("0.1"), Decimal("0.1"))]  # fmt: skip


async def test_fifty_at_once_in_two_processes_stay_under_the_cap(till: Till) -> None:
    who, ledgers = somebody(), (till.other(), till.other())
    found = await asyncio.gather(*(ledgers[n % 2].reserve(call(who), SMALL) for n in range(50)), return_exceptions=True)
    taken = [each for each in found if not isinstance(each, BaseException)]
    assert len(taken) == 10
    assert all(isinstance(each, CapReached) for each in found if isinstance(each, BaseException))


async def test_a_call_is_settled_once(till: Till) -> None:
    who = somebody()
    held = await till.ledger.reserve(call(who), SMALL)
    found = await asyncio.gather(*(till.ledger.settle(held, Figures(1, 1)) for _ in range(5)), return_exceptions=True)
    assert [str(each) for each in found].count("0.100000000000000000") == 1
    assert sum(isinstance(each, Conflict) for each in found) == 4
    with pytest.raises(Conflict):
        await till.other().settle(held, Figures(1, 1))
    with pytest.raises(Conflict, match="an id of its own"):
        await till.ledger.reserve(held.call, SMALL)
    assert len(await till.rows(who)) == 1 and not await till.rows(who, "reservations")


@pytest.mark.parametrize(
    ("figures", "cost", "tokens", "estimated"),
    [
        (Figures(1000, 100), "0.0012", (1000, 100, None), False),
        (Figures(1000, 100, 400), "0.001", (1000, 100, 400), False),
        (Figures(0, 0), "0", (0, 0, None), False),
        (Figures(10, 1, estimated=True), "0.000012", (10, 1, None), True),
        (Figures(None, None), "0.0012", (None, None, None), True),
        (Figures(-5, 10), "0.0012", (None, 10, None), True),
        (Figures(10, -1), "0.0012", (10, None, None), True),
        (Figures(10**18, 10), "0.00102", (1000, 10, None), True),
        (Figures(10, 10**30), "0.00021", (10, 100, None), True),
        (Figures(10, 10, 11), "0.000025", (10, 10, 10), True),
        (Figures(10, 10, -1), "0.00003", (10, 10, None), True),
        (Figures(1.5, 10), "0.0012", (None, 10, None), True),  # type: ignore[arg-type]
    ],
)
async def test_figures_that_cannot_be_true_are_not_believed(
    till: Till, figures: Figures, cost: str, tokens: tuple[int | None, ...], estimated: bool
) -> None:
    who = somebody()
    assert await till.ledger.settle(await till.ledger.reserve(call(who, "big"), SMALL), figures) == Decimal(cost)
    [row] = await till.rows(who)
    assert (row["tokens_in"], row["tokens_out"], row["tokens_cached"]) == tokens
    assert (row["cost"], row["estimated"]) == (Decimal(cost), estimated)


async def test_a_cap_of_zero_means_no_paid_call_and_no_cap_means_no_limit(till: Till) -> None:
    none, free = somebody(), somebody()
    till.caps.of |= {none: Decimal(0), free: None}
    with pytest.raises(CapReached, match="The cap is 0"):
        await till.ledger.reserve(call(none, "token"), SMALL)
    for model, connector in (("gift", "shop"), ("built-in", "")):
        await till.ledger.settle(await till.ledger.reserve(call(none, model, connector=connector), SMALL), Figures(9, 9))  # fmt: skip
    assert [row["cost"] for row in await till.rows(none)] == [0, 0]
    for _ in range(20):
        await till.ledger.settle(await till.ledger.reserve(call(free), SMALL), Figures(1, 1))
    standing = await till.ledger.standing(free)
    assert (standing.cap, standing.left, standing.spent) == (None, None, Decimal(2))


async def test_a_model_without_a_valid_price_is_for_those_without_a_cap(till: Till) -> None:
    who, free = somebody(), somebody()
    till.caps.of[free] = None
    with pytest.raises(Refused, match="no valid price") as refused:
        await till.ledger.reserve(call(who, "nobody-heard-of-it"), SMALL)
    assert refused.value.code == "price"
    held = await till.ledger.reserve(call(free, "nobody-heard-of-it"), SMALL)
    assert await till.ledger.settle(held, Figures(1, 1)) is None
    [told] = await till.told(free)
    assert told["cost"] is None and (await till.ledger.standing(free)).unknown == 1


async def test_a_call_larger_than_the_cap_says_so(till: Till) -> None:
    who = somebody()
    till.caps.of[who] = Decimal("0.05")
    with pytest.raises(CapReached, match="more than the whole cap"):
        await till.ledger.reserve(call(who), SMALL)


async def test_accounts_share_nothing(till: Till) -> None:
    person, guest = somebody(), None
    guest = Owner(kind="guest", id=person.id)
    held = await till.ledger.reserve(call(person), SMALL)
    await till.ledger.settle(held, Figures(1, 1))
    assert (await till.ledger.standing(guest)).spent == 0 and not await till.rows(guest)


async def test_who_was_cancelled_while_reserving_leaves_nothing_reserved(till: Till) -> None:
    who = somebody()
    asking = asyncio.ensure_future(till.ledger.reserve(call(who), SMALL))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await till.ledger._lanes.drained()
    standing = await till.ledger.standing(who)
    assert (standing.spent, standing.reserved) == (Decimal(0), Decimal(0))
