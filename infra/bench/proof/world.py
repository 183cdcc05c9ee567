"""Ten years of one zone: a store with a lease, a fence and unique rows, two owners of the loop, and what befalls them.

The planning is the product's (services.agent.tasks.planning); the store keeps what its tables keep: who writes carries the fence, a task has moved on when its
revision or its next time has, and there is one row for (task, nominal time). `checked=False` takes these away: a proof that finds nothing then proves nothing.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from infra.bench.proof.schedules import Decade, Schedule, make
from services.agent.tasks.planning import Due, Plan, Planned, plan
from shared.schedules.calendar import next_after

TAKEOVER = (15, 20)
"""Seconds until another owner acts."""
LONGEST_OUTAGE, LONGEST_STEP = timedelta(days=40), timedelta(days=3)
IN_FLIGHT, BETWEEN = 0.05, 0.02
"""Of the batches: in so many something happens between reading and writing, after so many something befalls the machine."""


@dataclass
class Act:
    """What one batch did with a task. `already`: nominal times whose row was there."""

    at: datetime
    runs: tuple[Planned, ...]
    already: frozenset[datetime]
    plain: bool
    """No run was under way or waited for, and its time was due alone."""


@dataclass
class Epoch:
    """A task from one change to the next. `limit`: the time that was next when it ended; what comes from there on was void."""

    schedule: Schedule
    due: Due
    start: datetime
    acts: list[Act] = field(default_factory=list)
    limit: datetime | None = None


@dataclass
class Task:
    """`busy_until`: of an automation's run. `next`: of `due`, None when nothing comes."""

    number: int
    epochs: list[Epoch]
    due: Due | None
    revision: int = 1
    busy_until: datetime | None = None

    def ready_at(self, now: datetime) -> datetime | None:
        if self.due is None:
            return None
        if self.due.held and self.busy_until is not None and self.busy_until > now:
            return self.busy_until
        return self.due.next.at


@dataclass
class Batch:
    """What an owner read and means to write."""

    fence: int
    at: datetime
    plans: list[tuple[Task, int, Due, Plan]]


class World:
    def __init__(self, decade: Decade, rng: Random, tasks: int, *, checked: bool = True) -> None:
        self.decade, self.rng, self.checked = decade, rng, checked
        self.now, self.fence = decade.start, 1
        self.end = datetime.fromtimestamp(decade.end, decade.start.tzinfo) - LONGEST_OUTAGE - LONGEST_STEP * 2
        self.seen: set[tuple[int, datetime]] = set()
        self.count: Counter[str] = Counter()
        self.tasks = [Task(number, [], None) for number in range(tasks)]
        for task in self.tasks:
            self.change(task)

    def run(self) -> None:
        """Until every time of the ten years has been dealt with."""
        while (at := self._next()) is not None and at < self.end:
            self.now = max(self.now, at) + timedelta(seconds=self.rng.choice([0, 0, 1, self.rng.random() * 30]))
            if self.rng.random() < BETWEEN:
                self._befall()
            self._turn()
        for task in self.tasks:
            task.epochs[-1].limit = task.due.next.at if task.due else None

    def change(self, task: Task) -> None:
        """A new schedule: what was queued is void (rule 9)."""
        if task.epochs:
            task.epochs[-1].limit = task.due.next.at if task.due else None
            task.revision += 1
        first = None
        while first is None:
            schedule = make(self.rng, self.decade)
            first = next_after(schedule.rule, schedule.zone, self.now)
        automation = self.rng.random() < 0.2
        task.due = Due(
            schedule.rule, schedule.zone, first, misfire=self.rng.choice(["latest", "latest", "skip", "all"]),
            window_s=self.rng.choice([86400, 86400, 3600, 7 * 86400]), overlap=self.rng.choice(["skip", "wait"]), one_by_one=automation,
        )  # fmt: skip
        task.epochs.append(Epoch(schedule, task.due, self.now))

    def _next(self) -> datetime | None:
        return min((at for task in self.tasks if (at := task.ready_at(self.now)) is not None), default=None)

    def _turn(self) -> None:
        """A batch, by whoever holds the lease; sometimes it does not go well."""
        batch = self._plan()
        if self.rng.random() >= IN_FLIGHT:
            self._write(batch)
            return
        match self.rng.choice(["killed", "frozen", "overtaken", "edited"]):
            case "killed":
                self._take_over()
            case "frozen":
                self._take_over()
                self._write(self._plan())
                self._write(batch, late=True)
            case "overtaken":
                self._take_over()
                following = self._plan()
                self._write(batch, late=True)
                self._write(following)
            case _:
                self.count["edits"] += 1
                self.change(self.rng.choice(batch.plans)[0] if batch.plans else self.rng.choice(self.tasks))
                self._write(batch)

    def _befall(self) -> None:
        what = self.rng.choice(["outage", "outage", "forward", "back"])
        self.count[what] += 1
        longest = (LONGEST_OUTAGE if what == "outage" else LONGEST_STEP).total_seconds()
        span = timedelta(seconds=math.exp(self.rng.uniform(math.log(30), math.log(longest))))
        self.now += -span if what == "back" else span

    def _take_over(self) -> None:
        self.count["takeovers"] += 1
        self.fence += 1
        self.now += timedelta(seconds=self.rng.uniform(*TAKEOVER))

    def _plan(self) -> Batch:
        found = Batch(self.fence, self.now, [])
        for task in self.tasks:
            if task.due is None or task.due.next.at > self.now:
                continue
            busy = task.busy_until is not None and task.busy_until > self.now
            due = replace(task.due, busy=busy)
            found.plans.append((task, task.revision, due, plan(due, self.now)))
        return found

    def _write(self, batch: Batch, *, late: bool = False) -> None:
        if self.checked and batch.fence != self.fence:
            self.count["refused"] += 1
            return
        assert not (late and self.checked)
        for task, revision, due, planned in batch.plans:
            if not self.checked or (task.due and (task.revision, task.due.next) == (revision, due.next)):
                self._write_task(task, batch.at, due, planned)
            else:
                self.count["voided"] += 1

    def _write_task(self, task: Task, at: datetime, due: Due, planned: Plan) -> None:
        keys = [(task.number, each.nominal_at) for each in planned.runs]
        already = frozenset(key[1] for key in keys if self.checked and key in self.seen)
        self.seen.update(keys)
        fired = sum(each.what == "fire" and each.nominal_at not in already for each in planned.runs)
        self.count["fired"] += fired
        plain = not (due.held or due.one_by_one or due.busy or planned.hold)
        task.epochs[-1].acts.append(Act(at, planned.runs, already, plain))
        task.due = None if planned.next is None else replace(due, next=planned.next, held=planned.hold, busy=False)
        if due.one_by_one and fired:
            task.busy_until = at + timedelta(seconds=math.exp(self.rng.uniform(0, math.log(3 * 86400))))
