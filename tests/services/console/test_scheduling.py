"""An approval with a time: signed with it, shown with it, forgotten when it no longer holds."""

from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schemas.model import Actor
from schemas.statements import Decision
from services.console.queue.times import read_time
from services.console.queue.usecases.withdraw_item import withdraw_item
from shared.clock import now
from shared.errors import Conflict, Refused
from tests.services.console.conftest import MARA, Desk, Made

LOCK = Actor(id="bridge", name="the lock", via="service")


def later(seconds: float = 3600) -> datetime:
    return now() + timedelta(seconds=seconds)


async def scheduled(desk: Desk, at: datetime) -> Made:
    made = await desk.queue()
    decided = await desk.decide(replace(made.order(), publish_at=at))
    told = {"verdict": "approve", "statement_hash": decided.statement_hash}
    await desk.move(made, "approved", 2, **told)
    await desk.move(made, "scheduled", 3, **told)
    made.version = 3
    return made


async def test_the_time_is_part_of_what_is_signed(desk: Desk) -> None:
    at = later()
    made = await desk.queue()
    await desk.decide(replace(made.order(), publish_at=at))
    [event] = await desk.staged(made)
    assert Decision.from_bytes(b64decode(event["data"]["statement"]["payload"])).publish_at == at


async def test_the_locks_word_makes_it_scheduled(desk: Desk) -> None:
    made = await scheduled(desk, at := later())
    row = await desk.item(made)
    assert (row["state"], row["scheduled_revision"], row["publish_at"], row["deciding"]) == ("scheduled", 1, at, None)
    await desk.move(made, "published", 4, verdict="approve", gate_seq=1)
    row = await desk.item(made)
    assert (row["state"], row["scheduled_revision"], row["publish_at"]) == ("published", None, None)


async def test_a_newer_revision_waits_beside_the_scheduled_one(desk: Desk) -> None:
    made = await scheduled(desk, at := later())
    await desk.queue("second", of=made)
    row = await desk.item(made)
    assert (row["state"], row["revision"], row["scheduled_revision"], row["publish_at"]) == ("submitted", 2, 1, at)
    await desk.move(made, "published", 5, verdict="approve", gate_seq=1)
    row = await desk.item(made)
    assert (row["state"], row["published_revision"], row["scheduled_revision"]) == ("submitted", 1, None)


async def test_what_the_lock_turns_down_at_its_time_is_scheduled_no_more(desk: Desk) -> None:
    made = await scheduled(desk, later())
    await desk.move(made, "rejected", 4, by=LOCK)
    row = await desk.item(made)
    assert (row["state"], row["scheduled_revision"], row["publish_at"]) == ("rejected", None, None)


async def test_a_scheduled_revision_can_be_taken_back(desk: Desk) -> None:
    made = await scheduled(desk, later())
    async with desk.db.transaction() as tx:
        await withdraw_item(tx, desk.key, MARA, made.item_id, "", version=3)
    await desk.move(made, "withdrawn", 4, verdict="withdraw")
    row = await desk.item(made)
    assert (row["state"], row["scheduled_revision"], row["gate_seq"]) == ("withdrawn", None, None)
    with pytest.raises(Refused, match="public or scheduled"):
        async with desk.db.transaction() as tx:
            await withdraw_item(tx, desk.key, MARA, made.item_id, "")


async def test_another_time_is_another_word(desk: Desk) -> None:
    made = await desk.queue()
    at = later()
    await desk.decide(replace(made.order(), publish_at=at))
    assert (await desk.decide(replace(made.order(), publish_at=at))).repeated
    with pytest.raises(Conflict):
        await desk.decide(made.order())


@pytest.mark.parametrize(("verdict", "seconds"), [("approve", -1), ("reject", 60), ("request_changes", 60)])
async def test_a_time_in_the_past_or_for_a_refusal_makes_no_sense(desk: Desk, verdict: str, seconds: float) -> None:
    made = await desk.queue()
    with pytest.raises(Refused, match=r"past|Only an approval"):
        await desk.decide(replace(made.order(verdict, "x"), publish_at=later(seconds)))
    assert await desk.staged(made) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-12-01T08:00", datetime(2026, 12, 1, 8, tzinfo=UTC)),
        (" 2026-12-01t08:00:30z ", datetime(2026, 12, 1, 8, 0, 30, tzinfo=UTC)),
        ("2026-12-01T08:00:00.25+01:00", datetime(2026, 12, 1, 7, 0, 0, 250000, tzinfo=UTC)),
    ],
)
def test_times_are_read(text: str, found: datetime) -> None:
    assert read_time(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "08:00", "2026-12-01", "2026-02-30T08:00", "20261201T0800", "2026-12-01T25:00", "0001-01-01T00:00+14:00"],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="is no time"):
        read_time(text)
