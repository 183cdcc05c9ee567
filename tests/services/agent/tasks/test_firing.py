"""Tasks on a real database: what fires, once, and what becomes of every other time."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import uuid4

import pytest

from services.agent.tasks import firing, store
from services.agent.tasks.firing import fire_due
from services.agent.tasks.kept import KeptRuns
from services.agent.tasks.usecases import add_task
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from shared.schedules.domain import Cron, Interval, Once, Wall
from shared.testing.servers import Servers
from tests.factories.tasks import TaskOffice, somebody, soon, task_office, wanted

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.fixture
async def office(servers: Servers) -> AsyncIterator[TaskOffice]:
    async with task_office(servers) as found:
        yield found


async def test_a_reminder_fires_once_with_its_notification(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600)))
    due = await office.back(me, task, timedelta(hours=1))
    async with office.held() as lease:
        fired = await office.fire(lease, me)
        assert [(each.task_id, each.nominal_at) for each in fired] == [(task.task_id, due)]
        assert await office.fire(lease, me) == []
    assert [(row["task_id"], row["title"], row["due_at"]) for row in await office.notified(me)] == [
        (task.task_id, "Water", due)
    ]
    [run] = await office.runs(me, task)
    assert (run.state, run.nominal_at, run.reason) == ("done", due, "")
    after = await office.tasks.get(me, task.task_id)
    assert (after.state, after.next_at, after.reason) == ("ended", None, "Its last time has come.")


async def test_sc_07_an_outage_of_95_minutes(office: TaskOffice) -> None:
    """A task of every minute, a cleanup on Sunday, a reminder: each once, the reminder with its original time, and what was missed is listed."""
    me, start = somebody(), now()
    minutely = await office.tasks.add(
        me, wanted(Interval(seconds=60, start=start - 95 * MINUTE), title="Every minute", notify=False)
    )
    weekly = Wall(
        unit="week",
        weekdays=(start.isoweekday(),),
        times=((start - 90 * MINUTE).time().replace(microsecond=0),),
        start=(start - 90 * DAY).date(),
    )
    cleanup = await office.tasks.add(me, wanted(weekly, "UTC", title="Cleanup", notify=False))
    once = await office.tasks.add(me, wanted(soon(600), title="Once"))
    await office.promise(me, minutely, start - 94 * MINUTE)
    promised = (start - 90 * MINUTE).replace(microsecond=0)
    await office.promise(me, cleanup, promised)
    due = await office.back(me, once, timedelta(minutes=60))
    async with office.held() as lease:
        fired = await office.fire(lease, me)
    assert sorted(each.task_id for each in fired) == sorted([minutely.task_id, cleanup.task_id, once.task_id])
    assert [row["due_at"] for row in await office.notified(me)] == [due]
    ran, left = await office.runs(me, minutely)
    assert ran.state == "done" and start - 2 * MINUTE < ran.nominal_at
    assert left.state == "missed" and 90 <= left.count <= 96 and "only the newest" in left.reason
    [late] = await office.runs(me, cleanup)
    assert (late.state, late.nominal_at) == ("done", promised) and "90 min late" in late.reason
    listed = {task.title: run for task, run in await office.tasks.missed(me)}
    assert set(listed) == {"Every minute", "Cleanup", "Once"} and listed["Once"].nominal_at == due
    assert (await office.tasks.get(me, cleanup.task_id)).next_at == promised + 7 * DAY


async def test_a_miss_of_more_than_a_day_is_recorded_and_not_caught_up(office: TaskOffice) -> None:
    me = somebody()
    old = await office.tasks.add(me, wanted(soon(60)))
    skips = await office.tasks.add(me, wanted(Interval(seconds=3600, start=now()), misfire="skip"))
    every = await office.tasks.add(
        me, wanted(Interval(seconds=3600, start=now() - 60 * MINUTE), misfire="all", window_s=5 * 3600)
    )
    await office.back(me, old, timedelta(hours=25))
    await office.back(me, skips, timedelta(hours=3, minutes=30))
    await office.back(me, every, timedelta(hours=9))
    async with office.held() as lease:
        fired = await office.fire(lease, me)
    assert {each.task_id for each in fired} == {every.task_id}
    [missed] = await office.runs(me, old)
    assert missed.state == "missed" and "24 h" in missed.reason
    [skipped] = await office.runs(me, skips)
    assert skipped.state == "skipped" and skipped.count == 3 and "does not catch up" in skipped.reason
    caught = await office.runs(me, every)
    assert [run.state for run in caught] == ["done"] * 5 + ["missed"] or [run.state for run in caught] == [
        "done"
    ] * 4 + ["missed"]
    assert sum(run.count for run in caught) == 9
    assert len(await office.notified(me)) == len(fired)


async def test_ten_thousand_missed_minutes_are_one_row(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(Interval(seconds=60, start=now() - 30 * DAY)))
    assert task.next_at is not None
    await office.promise(me, task, task.next_at - 10_000 * MINUTE)
    async with office.held() as lease:
        assert len(await office.fire(lease, me)) == 1
    runs = await office.runs(me, task)
    assert len(runs) == 3 and sum(run.count for run in runs) == 10_000
    assert len(await office.notified(me)) == 1


async def test_sc_01_a_shifted_time_says_so_in_its_run(office: TaskOffice) -> None:
    """02:30 in Berlin on the day of the change: 03:00, which is 01:00 UTC; the days before as asked."""
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600), misfire="all", window_s=20 * 366 * 86400))
    rule = Wall(unit="day", times=(time(2, 30),), start=date(2026, 3, 27), until=date(2026, 3, 29))
    days = [
        datetime(2026, 3, 27, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 28, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 29, 1, tzinfo=UTC),
    ]
    await office.promise(me, task, days[0], rule)
    async with office.held() as lease:
        assert len(await office.fire(lease, me)) == 3
    newest, *before = await office.runs(me, task)
    assert [run.nominal_at for run in (newest, *before)] == days[::-1]
    assert "02:30" in newest.note and "03:00" in newest.note and {run.note for run in before} == {""}


async def test_editing_or_pausing_voids_what_was_queued(office: TaskOffice) -> None:
    me = somebody()
    paused, moved, gone = [await office.tasks.add(me, wanted(Interval(seconds=3600, start=now()))) for _ in range(3)]
    for each in (paused, moved, gone):
        await office.back(me, each, timedelta(hours=2))
    assert (await office.tasks.pause(me, paused.task_id)).revision == 2
    later = wanted(soon(7200)).when
    await office.tasks.change(me, moved.task_id, when=later)
    await office.tasks.end(me, gone.task_id)
    async with office.held() as lease:
        assert await office.fire(lease, me) == []
    resumed = await office.tasks.resume(me, paused.task_id)
    assert resumed.next_at is not None and resumed.next_at > now() and resumed.revision == 3
    assert (await office.tasks.get(me, moved.task_id)).rule == later.rule
    assert [each.task_id for each in await office.tasks.list(me)] == [paused.task_id, moved.task_id]
    assert {each.task_id for each in await office.tasks.list(me, ended=True)} >= {gone.task_id}


async def test_a_due_row_of_an_older_revision_fires_nothing(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600)))
    await office.tasks.change(me, task.task_id, title="Other")
    async with office.db.transaction() as tx:
        await tx.raw.execute(
            "UPDATE app.due_tasks SET due_at = now() - interval '1 minute', revision = 1 WHERE task_id = $1",
            task.task_id,
        )
    async with office.held() as lease:
        assert await office.fire(lease, me) == []
    assert await office.runs(me, task) == ()


async def test_what_somebody_changes_while_it_is_planned_is_left_alone(office: TaskOffice) -> None:
    """Between reading and firing there is a change: nothing of the old fires."""
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600)))
    await office.back(me, task, timedelta(hours=1))
    async with office.held() as lease:
        assert lease.fence is not None
        async with office.db.reading() as tx:
            rows = [row for row in await store.due_now(tx, 10_000) if row["task_id"] == task.task_id]
        plans = await firing._plans(rows)
        await office.tasks.pause(me, task.task_id)
        async with office.db.reading() as tx:
            assert await store.fire(tx, lease.fence, "test", firing.batch_of(rows, plans)) == []
    assert await office.notified(me) == [] and (await office.tasks.get(me, task.task_id)).state == "paused"


async def test_automations_run_one_by_one(office: TaskOffice) -> None:
    """A time that comes while a run is under way is skipped with its reason, or waits for its end."""
    me = somebody()
    cards: dict[str, Any] = {"card_id": uuid4(), "kind": "automation", "text": "Summarise my mails."}
    skips = await office.tasks.add(me, wanted(Interval(seconds=60, start=now()), **cards))
    waits = await office.tasks.add(me, wanted(Interval(seconds=60, start=now()), **cards, overlap="wait"))
    assert skips.instruction_hash is not None
    runs = KeptRuns(office.db)
    async with office.held() as lease:
        for each in (skips, waits):
            await office.back(me, each, timedelta(seconds=70))
        first = {each.task_id: each for each in await office.fire(lease, me)}
        assert set(first) == {skips.task_id, waits.task_id} and {each.kind for each in first.values()} == {"automation"}
        for each in (skips, waits):
            assert (await office.runs(me, each))[0].state == "claimed"
            await office.promise(me, each, now() - timedelta(seconds=1))
        assert await office.fire(lease, me) == []
        assert [run.state for run in await office.runs(me, skips)] == ["skipped", "claimed"]
        assert [run.state for run in await office.runs(me, waits)] == ["claimed"]
        run = first[waits.task_id]
        assert await runs.begun(me.owner, waits.task_id, run.nominal_at, uuid4())
        assert await runs.ended(me.owner, waits.task_id, run.nominal_at, "done", output="Nothing new.\0")
        assert not await runs.ended(me.owner, waits.task_id, run.nominal_at, "failed", error="late")
        assert [each.task_id for each in await office.fire(lease, me)] == [waits.task_id]
    newest, oldest = await office.runs(me, waits)
    assert newest.state == "claimed" and (oldest.state, oldest.output) == ("done", "Nothing new.�")
    assert await office.notified(me) == []


async def test_another_owners_task_answers_like_one_that_is_not(office: TaskOffice) -> None:
    mine, theirs = somebody(), somebody()
    task = await office.tasks.add(theirs, wanted(soon(3600)))
    for ask in (office.tasks.get, office.tasks.pause, office.tasks.resume, office.tasks.end, office.tasks.runs):
        with pytest.raises(NotFound):
            await ask(mine, task.task_id)
    with pytest.raises(NotFound):
        await office.tasks.change(mine, task.task_id, title="x")
    assert await office.tasks.list(mine) == ()


async def test_what_can_not_be(office: TaskOffice) -> None:
    me = somebody()
    with pytest.raises(Refused, match="time is over"):
        await office.tasks.add(me, wanted(Once(at=now() - MINUTE)))
    task = await office.tasks.add(
        me, wanted(Cron(expression="0 7 * * *"), kind="automation", text="x", card_id=uuid4())
    )
    with pytest.raises(Refused, match="allowed word for word"):
        await office.tasks.change(me, task.task_id, text="y")
    await office.tasks.end(me, task.task_id, "taken back")
    with pytest.raises(Refused, match="taken back"):
        await office.tasks.resume(me, task.task_id)


async def test_at_most_a_thousand_tasks_of_one_person(office: TaskOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when they come at once."""
    monkeypatch.setattr(add_task, "MOST_TASKS", 5)
    me = somebody()
    added = await asyncio.gather(*(office.tasks.add(me, wanted(soon(3600))) for _ in range(9)), return_exceptions=True)
    assert sum(isinstance(each, Refused) for each in added) == 4


async def test_a_lease_that_has_moved_on_fires_nothing(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600)))
    await office.back(me, task, timedelta(hours=1))
    async with office.held() as old:
        fence = old.fence
    async with office.held() as lease:
        assert fence is not None and lease.fence is not None and lease.fence > fence
        with pytest.raises(Conflict):
            await fire_due(office.db, fence, "test")
        assert await office.runs(me, task) == () and await office.notified(me) == []
        assert len(await office.fire(lease, me)) == 1


async def test_deleted_rows_leave_nothing_behind(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600)))
    async with office.db.owned(me.owner) as tx:
        await tx.raw.execute("DELETE FROM core.tasks WHERE owner_kind = 'user' AND owner_id = $1", me.owner.id)
    assert await office.fetch("SELECT task_id FROM app.due_tasks WHERE task_id = $1", task.task_id) == []
