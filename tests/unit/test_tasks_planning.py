"""What becomes of a task's times, without a clock or a database: every one of them stands in exactly one run."""

import random
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile

import pytest

from services.agent.tasks.planning import GRACE, MOST_CAUGHT_UP, Due, Plan, plan
from shared.schedules.calendar import next_after, occurrences
from shared.schedules.domain import Cron, Interval, Occurrence, Once, Wall

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
HOURLY = Interval(seconds=3600, start=NOON - 100 * DAY)
MINUTELY = Interval(seconds=60, start=NOON - 100 * DAY)


def due(rule: Once | Interval | Wall | Cron, since: datetime, **more: object) -> Due:
    """Waits for its first time after that."""
    found = next_after(rule, "Europe/Berlin", since)
    assert found is not None
    return Due(rule, "Europe/Berlin", found, **more)  # type: ignore[arg-type]


def told(found: Plan) -> list[tuple[str, int]]:
    return [(run.what, run.count) for run in found.runs]


def test_a_time_to_come_is_left_alone() -> None:
    wanted = due(HOURLY, NOON)
    assert plan(wanted, NOON + MINUTE) == Plan((), wanted.next)


@pytest.mark.parametrize("late", [timedelta(0), GRACE - timedelta(seconds=1)])
@pytest.mark.parametrize("misfire", ["latest", "skip", "all"])
def test_a_time_that_came_fires_whatever_becomes_of_missed_ones(misfire: str, late: timedelta) -> None:
    wanted = due(HOURLY, NOON - MINUTE, misfire=misfire)
    found = plan(wanted, wanted.next.at + late)
    assert told(found) == [("fire", 1)] and found.runs[0].reason == ""
    assert found.next == Occurrence(wanted.next.at + HOUR)


def test_only_the_newest_of_missed_times_is_caught_up() -> None:
    found = plan(due(HOURLY, NOON - 5 * HOUR - MINUTE), NOON + 5 * MINUTE)
    assert told(found) == [("missed", 5), ("fire", 1)]
    left, caught = found.runs
    assert caught.nominal_at == NOON and "5 min late" in caught.reason
    assert left.until == NOON - HOUR and "only the newest" in left.reason and "11:00" in left.reason


def test_a_time_on_its_own_stands_for_those_before_it() -> None:
    """After 95 minutes the task of every minute runs once, and what runs is not late."""
    found = plan(due(MINUTELY, NOON - 95 * MINUTE), NOON)
    assert told(found) == [("missed", 94), ("fire", 1)] and found.runs[1].reason == ""


def test_what_is_older_than_the_window_is_recorded_only() -> None:
    found = plan(Due(Once(at=NOON - 25 * HOUR), "UTC", Occurrence(NOON - 25 * HOUR, "shifted")), NOON)
    assert told(found) == [("missed", 1)] and found.next is None
    assert "24 h" in found.runs[0].reason and found.runs[0].note == "shifted"
    younger = plan(Due(Once(at=NOON - 23 * HOUR), "UTC", Occurrence(NOON - 23 * HOUR)), NOON)
    assert told(younger) == [("fire", 1)] and "23 h late" in younger.runs[0].reason


def test_who_does_not_catch_up_skips() -> None:
    found = plan(due(HOURLY, NOON - 5 * HOUR - MINUTE, misfire="skip"), NOON + 5 * MINUTE)
    assert told(found) == [("skipped", 6)] and "does not catch up" in found.runs[0].reason


def test_all_are_caught_up_but_not_for_ever() -> None:
    few = plan(due(HOURLY, NOON - 5 * HOUR - MINUTE, misfire="all"), NOON + 5 * MINUTE)
    assert told(few) == [("fire", 1)] * 6
    many = plan(due(MINUTELY, NOON - 10 * HOUR, misfire="all"), NOON)
    assert told(many) == [("missed", 600 - MOST_CAUGHT_UP)] + [("fire", 1)] * MOST_CAUGHT_UP
    old = plan(due(HOURLY, NOON - 30 * HOUR - MINUTE, misfire="all", window_s=2 * 3600), NOON + MINUTE)
    assert told(old) == [("missed", 29), ("fire", 1), ("fire", 1)]


def test_a_year_of_minutes_is_told_without_counting_all_of_it() -> None:
    found = plan(due(Interval(seconds=60, start=NOON - 500 * DAY), NOON - 365 * DAY), NOON)
    assert [run.what for run in found.runs] == ["missed", "missed", "fire"]
    assert found.runs[0].at_least and "More than 20,000" in found.runs[0].reason


def test_a_run_that_is_under_way() -> None:
    skips = plan(due(HOURLY, NOON - MINUTE, busy=True, one_by_one=True), NOON)
    assert told(skips) == [("skipped", 1)] and "under way" in skips.runs[0].reason and not skips.hold
    waits = due(HOURLY, NOON - MINUTE, busy=True, one_by_one=True, overlap="wait")
    assert plan(waits, NOON + 3 * HOUR) == Plan((), waits.next, hold=True)
    freed = plan(due(HOURLY, NOON - MINUTE, one_by_one=True, overlap="wait", held=True), NOON + 3 * HOUR + MINUTE)
    assert told(freed) == [("skipped", 3), ("fire", 1)] and freed.runs[1].nominal_at == NOON + 3 * HOUR
    ages = plan(due(HOURLY, NOON - 40 * HOUR - MINUTE, one_by_one=True, held=True), NOON)
    assert told(ages) == [("skipped", 40), ("fire", 1)]


def test_what_takes_a_while_is_caught_up_one_by_one() -> None:
    wanted, at, seen = due(HOURLY, NOON - 3 * HOUR - MINUTE, misfire="all", one_by_one=True), NOON + 5 * MINUTE, []
    while True:
        found = plan(wanted, at)
        seen += [run.nominal_at for run in found.runs if run.what == "fire"]
        assert found.next is not None
        if not found.hold:
            break
        wanted = Due(HOURLY, "Europe/Berlin", found.next, "all", one_by_one=True, held=True)
    assert seen == [NOON - n * HOUR for n in (3, 2, 1, 0)]


RULES: list[Once | Interval | Wall | Cron] = [
    HOURLY,
    Interval(seconds=900, start=NOON - 100 * DAY),
    Wall(unit="day", times=(time(2, 30), time(23, 59)), start=date(2026, 1, 1)),
    Wall(unit="month", days=(31,), times=(time(9),), start=date(2026, 1, 1)),
    Cron(expression="*/17 1-3 * * *"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule)[:40])
def test_every_time_stands_in_exactly_one_run(rule: Once | Interval | Wall | Cron) -> None:
    """However long nobody looked, and whatever the policy: nothing is lost, nothing twice."""
    chance = random.Random(4)
    for _ in range(40):
        since = NOON + chance.random() * 30 * DAY
        misfire, window = chance.choice(["latest", "skip", "all"]), chance.choice([60, 3600, 86400, 7 * 86400])
        wanted = due(rule, since, misfire=misfire, window_s=window)
        at = since
        for _ in range(6):
            at += chance.choice([timedelta(seconds=20), HOUR, DAY, 9 * DAY]) * chance.random()
            found = plan(wanted, at)
            passed = _until(rule, wanted, at)
            assert sum(run.count for run in found.runs) == len(passed)
            assert {run.nominal_at for run in found.runs} <= set(passed)
            assert len({run.nominal_at for run in found.runs}) == len(found.runs)
            assert found.next is not None and found.next.at > at
            wanted = due(rule, at, misfire=misfire, window_s=window)
            assert wanted.next == found.next


def _until(rule: Once | Interval | Wall | Cron, wanted: Due, at: datetime) -> list[datetime]:
    """The times from the promised one on."""
    after = takewhile(lambda each: each.at <= at, occurrences(rule, wanted.zone, wanted.next.at))
    return [wanted.next.at, *(each.at for each in after)] if wanted.next.at <= at else []
