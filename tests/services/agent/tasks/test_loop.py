"""One owner of the loop (rule 9): whoever holds the lease fires, whoever lost it writes nothing, and nothing is lost or doubled when it changes hands."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, Popen
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.outward import Owner
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Run, Task
from services.agent.tasks.leasing import store as lease_store
from services.agent.tasks.leasing.lease import TaskLease
from services.agent.tasks.leasing.store import Lease
from services.agent.tasks.rows import rule_text
from services.agent.tasks.tables import LEASE_S
from shared.clock import now
from shared.db import Database
from shared.db.raw import Raw
from shared.errors import Refused
from shared.schedules.domain import Interval, Once
from shared.testing.servers import Servers
from tests.factories.tasks import TaskOffice, Worker, somebody, soon, task_office, until, wanted

TAKEOVER = 20.0
"""Seconds (rule 9)."""


@pytest.fixture
async def office(servers: Servers) -> AsyncIterator[TaskOffice]:
    async with task_office(servers) as found:
        yield found


@asynccontextmanager
async def working(office: TaskOffice, *parts: str) -> AsyncIterator[list[Worker]]:
    """Processes, as far as the database can tell: each with its own pool."""
    async with AsyncExitStack() as stack:
        found = []
        for part in parts:
            db = Database(office.servers.settings("agent"), pool_size=2)
            await db.start()
            stack.push_async_callback(db.stop)
            worker = Worker(db, f"{part}-{uuid4().hex[:6]}")
            await worker.start()
            stack.push_async_callback(worker.stop)
            found.append(worker)
        yield found


def holders(workers: list[Worker]) -> list[Worker]:
    return [each for each in workers if each.lease.fence is not None]


async def many(office: TaskOffice, people: int, each: int, seconds: float) -> list[tuple[Me, Task]]:
    """Reminders of one moment, so many seconds after the last of them was made."""
    rule, who = soon(3600), [somebody() for _ in range(people)]
    made = [(me, await office.tasks.add(me, wanted(rule))) for me in who for _ in range(each)]
    moment = now() + timedelta(seconds=seconds)
    for me in who:
        async with office.db.owned(me.owner) as tx:
            moved = "UPDATE core.tasks SET next_at = $1, rule = $2 WHERE owner_id = $3"
            await tx.raw.execute(moved, moment, rule_text(Once(at=moment)), me.owner.id)
            await tx.raw.execute("UPDATE app.due_tasks SET due_at = $1 WHERE owner_id = $2", moment, me.owner.id)
    return made


async def told(office: TaskOffice, made: list[tuple[Me, Task]]) -> list[UUID]:
    """Of which of these tasks there are notifications, as often as there are."""
    people = {me.owner.id: me for me, _ in made}.values()
    return [row["task_id"] for me in people for row in await office.notified(me)]


async def test_a_reminder_comes_at_its_time_by_itself(office: TaskOffice) -> None:
    heard: list[Owner] = []
    async with working(office, "a") as [worker]:
        worker.loop.on_fired.append(heard.append)
        await until(lambda: worker.lease.fence, "somebody holds the lease")
        [(me, task)] = await many(office, 1, 1, 0.2)
        await until(lambda: me.owner in heard, "the reminder was told")
    [row] = await office.notified(me)
    [run] = await office.runs(me, task)
    assert row["due_at"] == run.nominal_at and heard == [me.owner] and run.reason == ""


async def test_of_two_processes_one_fires_and_hands_over_at_once(office: TaskOffice) -> None:
    """A clean stop: the other one goes on within a moment, and everything fires once."""
    async with working(office, "a", "b") as both:
        await until(lambda: len(holders(both)) == 1, "one holds the lease")
        made = await many(office, 3, 40, 1.0)
        [first] = holders(both)
        await first.stop()
        [second] = [each for each in both if each is not first]
        fence = first.lease.fence
        assert fence is None
        await until(lambda: second.lease.fence, "the other one has it", 10)
        tasks = [task.task_id for _, task in made]
        await until(lambda: _all_told(office, made), "all were told")
        assert sorted(await told(office, made)) == sorted(tasks)


async def _all_told(office: TaskOffice, made: list[tuple[Me, Task]]) -> bool:
    return len(await told(office, made)) >= len(made)


async def test_sc_09_a_session_that_is_ended_changes_nothing(office: TaskOffice) -> None:
    """The server ends every session of the holder, the lease's own too; the holder stays, no time is lost or doubled."""
    async with working(office, "a", "b") as both:
        await until(lambda: len(holders(both)) == 1, "one holds the lease")
        [holder] = holders(both)
        fence, made = holder.lease.fence, await many(office, 2, 30, 0.7)
        for _ in range(4):
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agent' AND pid <> pg_backend_pid()"
            await office.fetch(ended)
            await asyncio.sleep(0.2)  # over the time at which they fire
        await until(lambda: _all_told(office, made), "all were told")
        await until(lambda: holder.lease.fence, "it is still the holder")
        assert holder.lease.fence == fence and holders(both) == [holder]
        assert sorted(await told(office, made)) == sorted(task.task_id for _, task in made)


async def test_whoever_lost_the_lease_stops_by_itself(office: TaskOffice) -> None:
    async with working(office, "a") as [old]:
        await until(lambda: old.lease.fence, "somebody holds the lease")
        connection = await office.db.connect()
        try:
            fence = await lease_store.take(connection, "thief", "other", await seen(connection), dead=True)
            assert fence is not None
            [(me, task)] = await many(office, 1, 1, 0.1)
            old.loop.wake()
            await until(lambda: old.lease.fence is None, "it was refused")
            assert await office.runs(me, task) == ()
            assert await lease_store.hand_back(connection, "thief", fence)
            await until(lambda: _ran(office, me, task), "it takes the next one and goes on")
            assert old.lease.fence is not None and old.lease.fence > fence
        finally:
            await connection.close()
    assert len(await office.notified(me)) == 1


async def _ran(office: TaskOffice, me: Me, task: Task) -> bool:
    return bool(await office.runs(me, task))


async def seen(connection: Raw) -> Lease:
    """The lease as it stands; somebody's, if there was none yet."""
    await lease_store.take_first(connection, "first", "first")
    found = await lease_store.read(connection)
    assert found is not None
    return found


async def test_a_stepped_clock_keeps_no_lease_alive(office: TaskOffice) -> None:
    """By the database's clock it lasts; whoever stands by has seen no beat for as long as a lease lasts, by a clock that nobody sets."""
    connection = await office.db.connect()
    try:
        await lease_store.take(connection, "frozen", "frozen", await seen(connection), dead=True)
        standby = TaskLease(office.db, uuid4().hex, "standby")
        assert await standby._take(connection) is None
        standby._seen_since -= LEASE_S - 10
        assert await standby._take(connection) is None
        standby._seen_since -= 10
        found = await lease_store.read(connection)
        assert found is not None
        await lease_store.renew(connection, "frozen", found.fence)
        assert await standby._take(connection) is None
        standby._seen_since -= LEASE_S
        fence = await standby._take(connection)
        assert fence == found.fence + 1
        assert not await lease_store.renew(connection, "frozen", found.fence)
        await lease_store.hand_back(connection, standby._holder, fence)
    finally:
        await connection.close()


async def test_a_new_start_of_the_same_process_waits_for_nobody(office: TaskOffice) -> None:
    connection = await office.db.connect()
    try:
        fence = await lease_store.take(connection, "killed", "agent-x", await seen(connection), dead=True)
        anew = TaskLease(office.db, uuid4().hex, "agent-x")
        assert fence is not None and await anew._take(connection) == fence + 1
        assert await anew._take(connection) is None
        await lease_store.hand_back(connection, anew._holder, fence + 1)
    finally:
        await connection.close()


class Does:
    """A runner that is asked for once."""

    def __init__(self, fails: bool = False) -> None:
        self.fails, self.asked = fails, list[tuple[Owner, Task, Run]]()

    async def begin(self, owner: Owner, task: Task, run: Run) -> None:
        self.asked.append((owner, task, run))
        if self.fails:
            raise Refused("your cap is reached")


async def test_an_automation_is_begun_once_its_run_is_durable(office: TaskOffice) -> None:
    me = somebody()
    about: dict[str, Any] = {"kind": "automation", "card_id": uuid4(), "text": "Look at my mails."}
    task, other = [await office.tasks.add(me, wanted(soon(3600), **about)) for _ in range(2)]
    due, _ = [await office.back(me, each, timedelta(hours=1)) for each in (task, other)]
    async with working(office, "a") as [worker]:
        worker.loop.runner = does = Does()
        await until(lambda: len([each for each in does.asked if each[0] == me.owner]) == 2, "both were begun")
        [mine] = [each for each in does.asked if each[1].task_id == task.task_id]
        assert mine[2].state == "claimed" and mine[2].nominal_at == due
        assert await worker.runs.ended(me.owner, task.task_id, mine[2].nominal_at, "done", output="Two mails.")
    [run] = await office.runs(me, task)
    assert (run.state, run.output) == ("done", "Two mails.")
    # its process is gone, and says nothing any more
    async with working(office, "b"):
        await until(lambda: _is(office, me, other, "interrupted"), "the run of a dead process was closed")
    assert [each.task_id for each, _ in await office.tasks.missed(me)] == [other.task_id]


async def test_a_runner_that_cannot_says_why_in_the_run(office: TaskOffice) -> None:
    me = somebody()
    task = await office.tasks.add(me, wanted(soon(3600), kind="automation", card_id=uuid4(), text="x"))
    await office.back(me, task, timedelta(hours=1))
    async with working(office, "a") as [worker]:
        worker.loop.runner = Does(fails=True)
        await until(lambda: _is(office, me, task, "failed"), "it has failed")
    [run] = await office.runs(me, task)
    assert run.error == "your cap is reached" and run.ended_at is not None


async def _is(office: TaskOffice, me: Me, task: Task, state: str) -> bool:
    return [run.state for run in await office.runs(me, task)] == [state]


@pytest.mark.long
async def test_ten_thousand_reminders_of_one_second(office: TaskOffice) -> None:
    """Two processes, pools that are renewed meanwhile: every one once."""
    async with working(office, "a", "b") as both:
        await until(lambda: len(holders(both)) == 1, "one holds the lease")
        made = await many(office, 20, 500, 0.0)
        for each in both:
            each.loop.wake()
        await until(lambda: _all_told(office, made), "all were told", 120)
        found = await told(office, made)
        assert len(found) == len(set(found)) == 10_000


@contextmanager
def process(servers: Servers, part: str) -> Iterator["Popen[bytes]"]:
    command = [sys.executable, "-m", "tests.factories.task_worker", str(servers.state), part]
    with Popen(command, stdout=PIPE, cwd=Path(__file__).parents[4]) as found:
        try:
            yield found
        finally:
            found.send_signal(signal.SIGCONT)
            found.kill()


def _fence(worker: "Popen[bytes]") -> int:
    assert worker.stdout is not None
    for line in worker.stdout:
        if line.startswith(b"fence "):
            return int(line.split()[1])
    raise AssertionError("the process has ended")


async def _holding(worker: "Popen[bytes]", above: int = 0) -> int:
    while (fence := await asyncio.to_thread(_fence, worker)) <= above:
        pass
    return fence


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_takeover_within_twenty_seconds(office: TaskOffice, how: signal.Signals) -> None:
    """kill -9, or a freeze past the lease: the other one fires what is due, and the returned one writes nothing."""
    with process(office.servers, f"a-{how}") as first:
        fence = await _holding(first)
        with process(office.servers, f"b-{how}") as second:
            me = somebody()
            task = await office.tasks.add(me, wanted(Interval(seconds=60, start=now() - timedelta(seconds=58))))
            ahead = await many(office, 2, 100, 1.0)
            first.send_signal(how)
            stopped = monotonic()
            taken = await _holding(second, fence)
            assert taken == fence + 1 and monotonic() - stopped < TAKEOVER
            await until(lambda: _all_told(office, ahead), "what was due meanwhile has fired")
            if how == signal.SIGSTOP:
                first.send_signal(signal.SIGCONT)
                await asyncio.sleep(3)  # that long it has to do harm
            assert sorted(await told(office, ahead)) == sorted(each.task_id for _, each in ahead)
            assert len({run.nominal_at for run in await office.runs(me, task)}) == len(await office.runs(me, task))
            fences = await office.of(me, "SELECT DISTINCT fence FROM core.task_runs")
            assert {row["fence"] for row in fences} <= {fence, taken}
