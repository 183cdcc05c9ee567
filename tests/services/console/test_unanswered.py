"""A decision that the lock never answers does not hold an item for ever; which one counts, the lock says."""

from base64 import b64decode
from datetime import timedelta

import pytest

from schemas.bridge.v1 import DecisionRefused
from schemas.model import Actor
from schemas.statements import Decision
from services.console.queue import views
from services.console.queue.usecases.record_refused import record_refused
from services.console.queue.usecases.withdraw_item import withdraw_item
from shared.clock import now
from shared.errors import Conflict
from tests.services.console.conftest import MARA, TOM, Desk, Made


async def time_passes(desk: Desk, made: Made, seconds: float) -> None:
    """As if everything about the item had happened so much earlier."""
    async with desk.db.transaction() as tx:
        for table, column in (("items", "decided_at"), ("decisions", "at")):
            sql = f"UPDATE app.{table} SET {column} = {column} - $2::interval WHERE item_id = $1"
            await tx.raw.execute(sql, made.item_id, timedelta(seconds=seconds))


async def priors(desk: Desk, made: Made) -> list[tuple[str, int]]:
    """(verdict, prior version) of every decision that was staged."""
    raw = [b64decode(each["data"]["statement"]["payload"]) for each in await desk.staged(made)]
    return [(found.verdict, found.prior_version) for found in map(Decision.from_bytes, raw)]


async def refuse(desk: Desk, made: Made, statement_hash: str) -> None:
    told = DecisionRefused(
        item_id=made.item_id, statement_hash=statement_hash, code="conflict", reason="Mara was faster", at=now()
    )
    async with desk.db.transaction() as tx:
        await record_refused(tx, told)


async def test_for_a_minute_the_decision_is_on_its_way(desk: Desk) -> None:
    made = await desk.queue()
    await desk.decide(made.order())
    await time_passes(desk, made, 55)
    with pytest.raises(Conflict, match="Mara Okonjo decided this revision"):
        await desk.decide(made.order("reject", "no"), TOM)
    assert (await desk.decide(made.order())).repeated, "the same word again is a double click"


async def test_after_a_minute_without_an_answer_it_can_be_decided_again(desk: Desk) -> None:
    made = await desk.queue()
    await desk.decide(made.order())
    async with desk.db.reading() as tx:
        before = await views.count_waiting(tx)
    await time_passes(desk, made, 61)
    async with desk.db.reading() as tx:
        assert await views.count_waiting(tx) == before + 1
        assert made.item_id in await views.pending_ids(tx)
    decided = await desk.decide(made.order("reject", "no"), TOM)
    assert not decided.repeated
    assert await priors(desk, made) == [("approve", 1), ("reject", 1)], "the lock takes one of them"
    row = await desk.item(made)
    assert (row["deciding"], row["decided_name"]) == (decided.statement_hash, "Tom Brandt")


async def test_the_same_person_can_send_the_same_word_again(desk: Desk) -> None:
    made = await desk.queue()
    first = await desk.decide(made.order())
    await time_passes(desk, made, 61)
    second = await desk.decide(made.order())
    assert not second.repeated and second.statement_hash != first.statement_hash


async def test_when_the_first_counts_after_all_the_second_is_undone_and_the_first_named(desk: Desk) -> None:
    made = await desk.queue()
    first = await desk.decide(made.order())
    await time_passes(desk, made, 61)
    second = await desk.decide(made.order("reject", "no"), TOM)
    by = Actor(id=MARA.id, name=MARA.name)
    await desk.move(made, "approved", 2, verdict="approve", statement_hash=first.statement_hash, by=by)
    assert (await desk.item(made))["deciding"] == second.statement_hash
    await refuse(desk, made, second.statement_hash)
    row = await desk.item(made)
    assert (row["state"], row["deciding"], row["decided_name"]) == ("approved", None, "Mara Okonjo")


async def test_when_the_second_counts_the_firsts_late_refusal_changes_nothing(desk: Desk) -> None:
    made = await desk.queue()
    first = await desk.decide(made.order())
    await time_passes(desk, made, 61)
    second = await desk.decide(made.order("reject", "no"), TOM)
    await refuse(desk, made, first.statement_hash)
    assert (await desk.item(made))["deciding"] == second.statement_hash
    by = Actor(id=TOM.id, name=TOM.name)
    await desk.move(made, "rejected", 2, verdict="reject", statement_hash=second.statement_hash, by=by)
    row = await desk.item(made)
    assert (row["state"], row["deciding"], row["decided_name"]) == ("rejected", None, "Tom Brandt")


async def test_a_withdrawal_without_an_answer_can_be_sent_again(desk: Desk) -> None:
    made = await desk.queue()
    await desk.publish(made)
    async with desk.db.transaction() as tx:
        await withdraw_item(tx, desk.key, MARA, made.item_id, "wrong")
    with pytest.raises(Conflict, match="Mara Okonjo was faster"):
        async with desk.db.transaction() as tx:
            await withdraw_item(tx, desk.key, TOM, made.item_id, "wrong")
    await time_passes(desk, made, 61)
    async with desk.db.transaction() as tx:
        await withdraw_item(tx, desk.key, TOM, made.item_id, "wrong")
    assert [each["type"] for each in await desk.staged(made)] == ["io.schleuse.item.withdrawn"] * 2
