"""The occurrences of schedules: clock changes, month ends, leap years (rules 6, 7)."""

from datetime import UTC, date, datetime, time
from itertools import islice
from time import process_time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shared.errors import Refused
from shared.schedules.calendar import next_after, occurrences
from shared.schedules.checks import Impossible, check_rule
from shared.schedules.domain import RULE, Cron, Interval, Once, Understood, Wall
from shared.schedules.telling import next_lines

Rule = Once | Interval | Wall | Cron
START = date(2007, 1, 1)
LONGEST = 0.1
"""Seconds of CPU within which everything ends."""


def wall(unit: str, times: str = "09:00", **fields: Any) -> Wall:
    found = RULE.validate_python({"kind": "wall", "unit": unit, "times": times.split(), "start": START, **fields})
    assert isinstance(found, Wall)
    return found


def local(rule: Rule, zone: str, after: str, count: int = 3) -> list[str]:
    found = islice(occurrences(rule, zone, at(after)), count)
    return [f"{each.at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" for each in found]


def notes(rule: Rule, zone: str, after: str, count: int = 3) -> list[str]:
    return [each.note for each in islice(occurrences(rule, zone, at(after)), count)]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_sc_01_a_time_in_the_spring_gap_runs_after_it_and_says_so() -> None:
    understood = Understood(wall("day", "02:30"), "Europe/Berlin", "every day at 02:30")
    lines = next_lines(understood, at("2027-03-26 12:00"), 3)
    assert [each.utc for each in lines] == ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]
    assert [each.local[11:16] for each in lines] == ["02:30", "03:00", "02:30"]
    assert lines[1].note == "02:30 does not exist on 28 March 2027 (the clocks go forward); it runs at 03:00"
    assert lines[0].note == lines[2].note == ""


def test_a_time_that_comes_twice_runs_at_the_first() -> None:
    rule = wall("day", "02:30")
    found = list(islice(occurrences(rule, "Europe/Berlin", at("2027-10-30 12:00")), 2))
    assert [each.at for each in found] == [at("2027-10-31 00:30"), at("2027-11-01 01:30")]
    assert "comes twice on 31 October 2027" in found[0].note


@pytest.mark.parametrize(
    ("zone", "times", "after", "expected"),
    [
        ("Australia/Lord_Howe", "02:15", "2027-10-01 20:00", ["2027-10-03 02:30", "2027-10-04 02:15"]),
        ("Africa/Cairo", "00:30", "2027-04-28 23:00", ["2027-04-30 01:00", "2027-05-01 00:30"]),
        ("Africa/Cairo", "00:00", "2027-04-28 23:00", ["2027-04-30 01:00", "2027-05-01 00:00"]),
        ("Pacific/Apia", "09:00", "2011-12-29 12:00", ["2011-12-29 09:00", "2011-12-31 00:00", "2011-12-31 09:00"]),
        ("Asia/Pyongyang", "23:45", "2018-05-03 16:00", ["2018-05-05 00:00", "2018-05-05 23:45"]),
        ("America/Caracas", "02:45", "2016-04-30 12:00", ["2016-05-01 03:00", "2016-05-02 02:45"]),
    ],
)
def test_gaps_of_half_an_hour_at_midnight_and_of_a_whole_day(
    zone: str, times: str, after: str, expected: list[str]
) -> None:
    assert local(wall("day", times), zone, after, len(expected)) == expected


def test_a_day_that_the_calendar_leaves_out_is_named() -> None:
    said = notes(wall("day"), "Pacific/Apia", "2011-12-29 12:00")
    assert said[1].startswith("30 December 2011 does not exist in this zone")
    assert said[1].endswith("it runs at 00:00 on 31 December 2011")


def test_a_note_can_be_german() -> None:
    found = next_after(wall("day", "02:30"), "Europe/Berlin", at("2027-03-27 12:00"), language="de")
    assert found
    assert found.note == "02:30 gibt es am 28. März 2027 nicht (die Uhren werden vorgestellt); es läuft um 03:00"


def test_several_times_in_one_gap_are_one_occurrence() -> None:
    found = local(wall("day", "02:00 02:30 02:59 03:00 03:30"), "Europe/Berlin", "2027-03-28 00:00")
    assert found == ["2027-03-28 03:00", "2027-03-28 03:30", "2027-03-29 02:00"]


def test_intervals_count_elapsed_time_over_a_clock_change() -> None:
    rule = Interval(seconds=86400, start=at("2027-03-27 08:00"))
    assert local(rule, "Europe/Berlin", "2027-03-27 08:00", 2) == ["2027-03-28 10:00", "2027-03-29 10:00"]
    assert next_after(rule, "UTC", at("2027-03-20 08:00")).at == at("2027-03-28 08:00")  # type: ignore[union-attr]
    assert next_after(rule, "UTC", at("8000-03-20 08:00")) is not None


def test_a_rule_comes_strictly_after_what_was_asked() -> None:
    assert local(wall("day"), "UTC", "2027-01-01 09:00", 1) == ["2027-01-02 09:00"]
    assert local(wall("day"), "UTC", "2027-01-01 08:59", 1) == ["2027-01-01 09:00"]


def test_every_other_week_counts_from_the_week_of_its_start() -> None:
    rule = wall("week", every=2, weekdays=(1, 5), start=date(2026, 12, 2))
    assert local(rule, "UTC", "2026-12-01 00:00", 4) == ["2026-12-04 09:00", "2026-12-14 09:00", "2026-12-18 09:00", "2026-12-28 09:00"]  # fmt: skip


def test_monthly_on_the_31st_is_the_last_day_where_there_is_none() -> None:
    rule = wall("month", days=(31,))
    assert local(rule, "UTC", "2028-01-31 10:00") == ["2028-02-29 09:00", "2028-03-31 09:00", "2028-04-30 09:00"]
    assert notes(rule, "UTC", "2028-01-31 10:00")[0] == "there is no 31st in February 2028; it runs on the 29th"
    assert check_rule(rule, "UTC", at("2028-01-01 00:00")) == ("in months without a 31st it runs on the month's last day",)  # fmt: skip


def test_days_that_fall_together_at_the_end_of_a_month_are_one() -> None:
    rule = wall("month", days=(28, 30, 31, -1))
    assert local(rule, "UTC", "2027-02-01 00:00") == ["2027-02-28 09:00", "2027-03-28 09:00", "2027-03-30 09:00"]
    assert notes(rule, "UTC", "2027-02-01 00:00", 1) == [""]


def test_the_nth_day_is_of_all_weekdays_that_are_named() -> None:
    assert local(wall("month", nth=1, weekdays=(1,)), "UTC", "2027-01-01 00:00", 2) == ["2027-01-04 09:00", "2027-02-01 09:00"]  # fmt: skip
    assert local(wall("month", nth=-1, weekdays=(1, 2, 3, 4, 5)), "UTC", "2027-01-01 00:00", 2) == ["2027-01-29 09:00", "2027-02-26 09:00"]  # fmt: skip
    assert local(wall("month", nth=5, weekdays=(1,)), "UTC", "2027-01-01 00:00", 2) == ["2027-03-29 09:00", "2027-05-31 09:00"]  # fmt: skip


@pytest.mark.parametrize("after", ["2028-02-29 09:00", "2028-03-01 00:00"])
def test_sc_05_29_february_runs_on_the_28th_in_other_years(after: str) -> None:
    rule = wall("year", month=2, days=(29,), start=date(2028, 2, 29))
    assert local(rule, "UTC", after, 4) == ["2029-02-28 09:00", "2030-02-28 09:00", "2031-02-28 09:00", "2032-02-29 09:00"]  # fmt: skip
    assert "in other years it runs on 28 February" in check_rule(rule, "UTC", at(after))[0]


@pytest.mark.parametrize(
    "rule",
    [
        wall("year", month=2, days=(30,)), wall("year", month=4, days=(31,)), wall("year", days=(31,), start=date(2026, 6, 1)),
        wall("year", month=2, nth=5, weekdays=(1,), every=4, start=date(2027, 2, 1)),
        wall("month", nth=5, weekdays=(1,), every=48, start=date(2027, 2, 1)),
        wall("day", until=date(2020, 1, 1)), wall("week", until=date(2026, 1, 1)), wall("month", days=(0,)), wall("month", nth=0, weekdays=(1,)),
        wall("month", nth=1), wall("month", nth=1, weekdays=(1,), days=(3,)),
        Once(wall=datetime(2020, 1, 1)), Once(at=at("2020-01-01 00:00")), Once(), Once(wall=datetime(2030, 1, 1), at=at("2030-01-01 00:00")),
        Once(wall=datetime(9999, 12, 31, 23)), Once(wall=datetime(1, 1, 1)),
        Wall(unit="day", times=(time(9, tzinfo=UTC),), start=START),
    ],
)  # fmt: skip
def test_sc_05_what_never_comes_is_refused_at_once(rule: Rule) -> None:
    began = process_time()
    with pytest.raises(Impossible) as refused:
        check_rule(rule, "Europe/Berlin", at("2026-11-30 08:00"))
    assert process_time() - began < LONGEST
    assert refused.value.hint


@pytest.mark.parametrize("rule", [
    wall("day", every=1000), wall("year", every=1000, start=date(2026, 12, 31)), wall("month", days=(31,), every=1000),
    wall("year", month=2, nth=5, weekdays=(1,)), Interval(seconds=366 * 86400, start=at("2020-01-01 00:00")),
])  # fmt: skip
def test_what_comes_seldom_is_found_at_once(rule: Rule) -> None:
    began = process_time()
    check_rule(rule, "America/New_York", at("2026-11-30 08:00"))
    assert process_time() - began < LONGEST


def test_a_schedule_ends_with_its_last_day_and_with_the_calendar() -> None:
    rule = wall("day", until=date(2027, 1, 3))
    assert local(rule, "UTC", "2027-01-01 12:00", 5) == ["2027-01-02 09:00", "2027-01-03 09:00"]
    assert list(occurrences(wall("year"), "Pacific/Kiritimati", datetime(9999, 12, 31, tzinfo=UTC))) == []
    assert len(list(occurrences(wall("year"), "Pacific/Kiritimati", datetime(8990, 1, 1, tzinfo=UTC)))) < 12


def test_a_time_before_all_calendars_asks_nothing_impossible() -> None:
    assert next_after(wall("day"), "America/New_York", datetime.min.replace(tzinfo=UTC)) is not None


def test_a_moment_without_a_zone_is_no_moment() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        next_after(wall("day"), "UTC", datetime(2027, 1, 1))


def test_an_unknown_zone_has_no_times() -> None:
    with pytest.raises(Refused, match="is no time zone"):
        next_after(wall("day"), "Europe/Bonn", at("2027-01-01 00:00"))
