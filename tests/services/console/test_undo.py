"""An undo in the console: whose, of what, how long; signed over exactly what the decision led to."""

from base64 import b64decode
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.model import Actor
from schemas.statements import Undo
from services.console.people.domain import Caller
from services.console.queue.usecases.decide_item import Decided
from services.console.queue.usecases.record_refused import record_refused
from services.console.undo import views
from services.console.undo.usecases.undo_decision import undo_decision
from services.console.undo.usecases.undo_together import Undoing, undo_together
from shared.clock import now
from shared.errors import Conflict, Forbidden, NotFound, Refused
from tests.services.console.conftest import MARA, TOM, Desk, Made

ADMIN = Caller(str(uuid4()), "Ada Admin", "admin")


async def decided(desk: Desk, verdict: Any = "approve", **more: Any) -> tuple[Made, str]:
    """A decision of MARA's that the lock has taken."""
    made = await desk.queue()
    word = await desk.decide(replace(made.order(verdict, "because"), **more))
    told = {"verdict": verdict, "statement_hash": word.statement_hash}
    if verdict != "approve":
        await desk.move(made, "rejected", 2, **told)
        made.version = 2
        return made, word.statement_hash
    await desk.move(made, "approved", 2, **told)
    await desk.move(made, "scheduled" if more.get("publish_at") else "published", 3, **told, gate_seq=1)
    made.version = 3
    return made, word.statement_hash


async def undo(desk: Desk, statement_hash: str, who: Caller = MARA, reason: str = "") -> Decided:
    async with desk.db.transaction() as tx:
        return await undo_decision(tx, desk.key, who, statement_hash, reason)


async def taken(desk: Desk, made: Made, word: Decided, by: Caller = MARA, gate_seq: int | None = 2) -> None:
    """The lock has undone it."""
    told: dict[str, Any] = {"statement_hash": word.statement_hash, "gate_seq": gate_seq}
    await desk.move(made, "submitted", made.version + 1, by=Actor(id=by.id, name=by.name), **told)
    made.version += 1


async def test_an_undo_is_signed_over_what_the_decision_led_to_and_makes_the_item_wait_again(desk: Desk) -> None:
    made, verdict = await decided(desk, expire_at=now() + timedelta(days=1))
    assert (await desk.item(made))["expire_at"] is not None
    word = await undo(desk, verdict, reason="a mistake")
    event = (await desk.staged(made))[-1]
    signed = Undo.from_bytes(b64decode(event["data"]["statement"]["payload"]))
    assert (event["type"], signed.undoes, signed.prior_version) == ("io.schleuse.item.undone", verdict, 3)
    assert (await desk.item(made))["deciding"] == word.statement_hash
    await taken(desk, made, word)
    row = await desk.item(made)
    assert (row["state"], row["published_revision"], row["expire_at"], row["decided_name"], row["deciding"]) == (
        "submitted",
        None,
        None,
        None,
        None,
    )
    assert not (await desk.decide(made.order("reject", "no"))).repeated, "and is decided on anew"


async def test_an_undone_schedule_and_an_undone_refusal(desk: Desk) -> None:
    made, verdict = await decided(desk, publish_at=now() + timedelta(hours=1))
    await taken(desk, made, await undo(desk, verdict), gate_seq=None)
    row = await desk.item(made)
    assert (row["state"], row["scheduled_revision"], row["publish_at"]) == ("submitted", None, None)
    made, verdict = await decided(desk, "reject")
    await taken(desk, made, await undo(desk, verdict), gate_seq=None)
    assert (await desk.item(made))["state"] == "submitted"


async def test_ones_own_decisions_and_for_an_admin_anybodys(desk: Desk) -> None:
    made, verdict = await decided(desk)
    with pytest.raises(Forbidden, match="Mara Okonjo decided this"):
        await undo(desk, verdict, TOM)
    word = await undo(desk, verdict, ADMIN)
    await taken(desk, made, word, ADMIN)
    [row] = await desk.rows("SELECT undone_name FROM app.decisions WHERE statement_hash = $1", verdict)
    assert row["undone_name"] == ADMIN.name
    with pytest.raises(Conflict, match="Ada Admin undid this"):
        await undo(desk, verdict)


async def test_twice_by_the_same_person_is_once(desk: Desk) -> None:
    made, verdict = await decided(desk)
    first = await undo(desk, verdict)
    assert (await undo(desk, verdict)) == Decided(made.item_id, first.statement_hash, repeated=True)
    await taken(desk, made, first)
    assert (await undo(desk, verdict)).repeated
    assert [each["type"] for each in await desk.staged(made)].count("io.schleuse.item.undone") == 1
    with pytest.raises(Refused, match="An undo cannot be undone"):
        await undo(desk, first.statement_hash)


@pytest.mark.parametrize("minutes", [10.1, 60])
async def test_after_ten_minutes_it_is_too_late(desk: Desk, minutes: float) -> None:
    made, verdict = await decided(desk)
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "UPDATE app.decisions SET outcome_at = $2 WHERE statement_hash = $1",
            verdict,
            now() - timedelta(minutes=minutes),
        )
    with pytest.raises(Conflict, match="for 10 minutes; this one took effect at"):
        await undo(desk, verdict)
    assert (await desk.item(made))["state"] == "published"


async def test_what_happened_since_is_said_and_stays(desk: Desk) -> None:
    made, verdict = await decided(desk)
    newer = await desk.queue("Other water.", of=made)
    with pytest.raises(Conflict, match=r"revision 2 came in at \d\d:\d\d UTC"):
        await undo(desk, verdict)
    assert (await desk.item(newer))["published_revision"] == 1
    made, verdict = await decided(desk)
    await desk.move(made, "withdrawn", 4, verdict="withdraw", by=Actor(id=TOM.id, name=TOM.name), gate_seq=2)
    with pytest.raises(Conflict, match="Tom Brandt made it withdrawn"):
        await undo(desk, verdict)


async def test_a_decision_without_an_answer_and_one_that_there_is_not(desk: Desk) -> None:
    made = await desk.queue()
    word = await desk.decide(made.order())
    with pytest.raises(Conflict, match="has not answered"):
        await undo(desk, word.statement_hash)
    with pytest.raises(NotFound):
        await undo(desk, "0" * 64)


async def test_an_undo_that_the_lock_refuses_can_be_tried_again(desk: Desk) -> None:
    from schemas.bridge.v1 import DecisionRefused  # noqa: PLC0415 - only here

    made, verdict = await decided(desk)
    word = await undo(desk, verdict)
    refused = DecisionRefused(
        item_id=made.item_id, statement_hash=word.statement_hash, code="conflict", reason="too late", at=now()
    )
    async with desk.db.transaction() as tx:
        await record_refused(tx, refused)
    assert (await desk.item(made))["deciding"] is None
    assert not (await undo(desk, verdict)).repeated


async def test_what_was_decided_with_one_word_is_undone_with_one_and_each_for_itself(desk: Desk) -> None:
    batch = uuid4()
    words = [await decided(desk, batch=batch) for _ in range(3)]
    changed = words[1][0]
    await desk.queue("Newer.", of=changed)
    async with desk.db.reading() as tx:
        [group] = [each for each in await views.undoable(tx, MARA.id, now()) if each.batch == batch]
        hashes = await views.hashes_of(tx, batch)
    assert (group.words, group.count, set(hashes)) == ("2 items approved", 2, {verdict for _, verdict in words})
    made = Undoing()
    async with desk.db.transaction() as tx:
        await undo_together(tx, desk.key, MARA, hashes, made)
    assert len(made.sent) == 2
    [(item_id, title, why, code)] = made.refused
    assert (item_id, title, code, "came in" in why) == (str(changed.item_id), "Lock", "stale", True)


async def test_nothing_is_offered_when_its_time_is_over(desk: Desk) -> None:
    batch = uuid4()
    await decided(desk, batch=batch)
    async with desk.db.reading() as tx:
        assert batch in {each.batch for each in await views.undoable(tx, MARA.id, now() + timedelta(minutes=9))}
        assert batch not in {each.batch for each in await views.undoable(tx, MARA.id, now() + timedelta(minutes=10.1))}
        assert batch not in {each.batch for each in await views.undoable(tx, TOM.id, now())}


async def test_a_scheduled_item_gets_another_time_from_who_saw_the_first(desk: Desk) -> None:
    made, _ = await decided(desk, publish_at=now() + timedelta(hours=1))
    order = replace(made.order(), publish_at=now() + timedelta(hours=2), expire_at=now() + timedelta(hours=3))
    with pytest.raises(Conflict, match="It is scheduled for"):
        await desk.decide(replace(order, publish_at=None, expire_at=None, version=None))
    with pytest.raises(Conflict):
        await desk.decide(replace(order, verdict="reject", reason="x", publish_at=None, expire_at=None))
    word = await desk.decide(order)
    told: dict[str, Any] = {"verdict": "approve", "statement_hash": word.statement_hash}
    await desk.move(made, "approved", 4, **told)
    await desk.move(made, "scheduled", 5, **told)
    row = await desk.item(made)
    assert (row["publish_at"], row["scheduled_until"]) == (order.publish_at, order.expire_at)


async def test_what_is_over_is_not_live_and_a_scheduled_revision_stays(desk: Desk) -> None:
    made, _ = await decided(desk, expire_at=now() + timedelta(hours=1))
    await desk.applied(made, 1)
    lock = Actor(id="bridge", name="the lock", via="service")
    await desk.move(made, "withdrawn", 4, by=lock, reason="its time is over")
    row = await desk.item(made)
    assert (row["state"], row["live_revision"], row["published_revision"], row["expire_at"], row["gate_seq"]) == (
        "withdrawn",
        None,
        None,
        None,
        1,
    )
