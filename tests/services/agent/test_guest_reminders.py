"""Reminders of guests (rule 22): in memory, as toasts while a page is open, and gone with the visit."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.outward import Owner
from services.agent.guests import reminders as reminding
from services.agent.guests import tasks as keeping
from services.agent.guests import visits as visiting
from services.agent.guests.reminders import COMES_BACK, GuestReminders
from services.agent.guests.tasks import AWAY, MOST_TASKS, GuestTasks
from services.agent.guests.visits import Visits, guest
from services.agent.notifications.domain import Notification
from services.agent.owners.domain import Me
from services.agent.tasks.domain import TaskKind, Wanted
from shared.errors import NotFound, Refused, TooMany
from shared.schedules.domain import Interval, Once, Understood, Wall

BEGIN = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Moment:
    at = BEGIN


class Pushed:
    """Stands where toasts go."""

    def __init__(self) -> None:
        self.toasts: list[tuple[Me, Notification]] = []

    def push(self, me: Me, toast: Notification) -> None:
        self.toasts.append((me, toast))


class Here:
    """A visit, its reminders and what is pushed."""

    def __init__(self, moment: Moment) -> None:
        self.moment, self.visits, self.pushed = moment, Visits(), Pushed()
        self.tasks = GuestTasks(self.visits)
        self.clock = GuestReminders(self.visits, self.tasks, self.pushed)  # type: ignore[arg-type]
        _, self.visit = self.visits.begin()
        self.me = guest(self.visit)

    def later(self, by: timedelta) -> None:
        self.moment.at += by
        self.clock._look(self.moment.at)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    moment = Moment()
    monkeypatch.setattr(visiting, "_clock", lambda: 1000.0)
    monkeypatch.setattr(keeping, "now", lambda: moment.at)
    monkeypatch.setattr(reminding, "now", lambda: moment.at)
    yield Here(moment)


def wanted(rule: Any, kind: TaskKind = "reminder", **more: Any) -> Wanted:
    return Wanted(kind, "Tea", "is ready", Understood(rule, "UTC", "words"), **more)


def once(by: timedelta) -> Wanted:
    return wanted(Once(at=BEGIN + by))


async def test_it_fires_once_while_a_page_is_open(here: Here) -> None:
    task = await here.tasks.add(here.me, once(MINUTE))
    with here.visits.watching(here.visit):
        here.later(MINUTE / 2)
        assert here.pushed.toasts == []
        here.later(MINUTE / 2)
        here.later(MINUTE)
    [(me, toast)] = here.pushed.toasts
    assert (me, toast.title, toast.due_at, toast.task_id) == (here.me, "Tea", BEGIN + MINUTE, task.task_id)
    [run] = await here.tasks.runs(here.me, task.task_id)
    assert (run.state, run.nominal_at) == ("done", BEGIN + MINUTE)
    assert await here.tasks.list(here.me) == () and len(await here.tasks.list(here.me, ended=True)) == 1


async def test_nobody_is_reminded_who_is_not_here(here: Here) -> None:
    task = await here.tasks.add(here.me, wanted(Interval(seconds=60, start=BEGIN)))
    here.later(MINUTE + COMES_BACK)
    assert here.pushed.toasts == []
    [(missed, run)] = await here.tasks.missed(here.me)
    assert (missed.task_id, run.state, run.reason) == (task.task_id, "missed", AWAY)
    with here.visits.watching(here.visit):
        here.later(MINUTE)
    assert [toast.due_at for _, toast in here.pushed.toasts] == [BEGIN + 2 * MINUTE], "it goes on with its next time"


async def test_a_page_that_is_loaded_anew_misses_nothing(here: Here) -> None:
    await here.tasks.add(here.me, once(MINUTE))
    here.later(MINUTE)
    assert here.pushed.toasts == []
    with here.visits.watching(here.visit):
        here.later(timedelta(seconds=1))
    assert len(here.pushed.toasts) == 1


async def test_what_was_changed_paused_or_deleted_does_not_come(here: Here) -> None:
    tasks, me = here.tasks, here.me
    moved, paused, gone = [await tasks.add(me, once(MINUTE)) for _ in range(3)]
    await tasks.change(me, moved.task_id, when=Understood(Once(at=BEGIN + 3 * MINUTE), "UTC", "later"), title="Coffee")
    await tasks.pause(me, paused.task_id)
    await tasks.end(me, gone.task_id)
    with here.visits.watching(here.visit):
        here.later(2 * MINUTE)
        assert here.pushed.toasts == []
        here.later(MINUTE)
        assert [toast.title for _, toast in here.pushed.toasts] == ["Coffee"]
    assert (await tasks.resume(me, paused.task_id)).state == "ended", "its time is over"
    with pytest.raises(Refused):
        await tasks.change(me, gone.task_id, title="x")


async def test_everything_goes_with_the_visit(here: Here) -> None:
    task = await here.tasks.add(here.me, once(MINUTE))
    here.visits.end(here.visit)
    here.later(MINUTE)
    assert here.pushed.toasts == [] and await here.tasks.list(here.me) == ()
    with pytest.raises(NotFound):
        await here.tasks.get(here.me, task.task_id)


async def test_another_guests_task_is_like_none(here: Here) -> None:
    task = await here.tasks.add(here.me, once(MINUTE))
    other = guest(here.visits.begin()[1])
    for act in (here.tasks.get, here.tasks.pause, here.tasks.resume, here.tasks.end, here.tasks.runs):
        with pytest.raises(NotFound):
            await act(other, task.task_id)
    with pytest.raises(NotFound):
        await here.tasks.get(Me(Owner(kind="guest", id=uuid4().hex), "Guest", "guest"), task.task_id)


async def test_bounds(here: Here) -> None:
    with pytest.raises(Refused, match="over"):
        await here.tasks.add(here.me, once(-MINUTE))
    with pytest.raises(Refused, match="Sign in"):
        await here.tasks.add(here.me, wanted(Once(at=BEGIN + MINUTE), "automation"))
    for _ in range(MOST_TASKS):
        await here.tasks.add(here.me, wanted(Wall(unit="day", times=(BEGIN.time(),), start=BEGIN.date())))
    with pytest.raises(TooMany):
        await here.tasks.add(here.me, once(MINUTE))
    listed = await here.tasks.list(here.me)
    assert len(listed) == MOST_TASKS and all(each.next_at == BEGIN + timedelta(days=1) for each in listed)


async def test_without_notify_it_only_stands_in_the_history(here: Here) -> None:
    task = await here.tasks.add(here.me, wanted(Once(at=BEGIN + MINUTE), notify=False))
    with here.visits.watching(here.visit):
        here.later(MINUTE)
    assert here.pushed.toasts == [] and (await here.tasks.runs(here.me, task.task_id))[0].state == "done"
