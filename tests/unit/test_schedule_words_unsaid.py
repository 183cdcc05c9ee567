"""What words leave open is asked for and never guessed; a quarter is one of the calendar's."""

from datetime import UTC, datetime

import pytest

from shared.schedules.telling import next_lines
from shared.schedules.words import NotUnderstood, find_schedule, understand

MONDAY = datetime(2026, 11, 30, 9, 40, tzinfo=UTC)


def _next(text: str) -> list[str]:
    understood = understand(text, "Europe/Berlin", MONDAY)
    return [each.local[:16] for each in next_lines(understood, MONDAY, count=3)]


@pytest.mark.parametrize("text", ["last Monday", "letzten Montag", "am letzten Freitag um 9"])
def test_the_last_weekday_without_its_month_may_be_past(text: str) -> None:
    with pytest.raises(NotUnderstood, match=r"month|Monat"):
        _next(text)


@pytest.mark.parametrize("text", ["tomorrow night at 1", "Freitag Nacht um 1", "every Friday night at 1", "Sonntagnacht um 2"])  # fmt: skip
def test_small_hours_of_a_named_days_night_are_before_it_or_after_it(text: str) -> None:
    with pytest.raises(NotUnderstood, match=r"night|Nacht"):
        _next(text)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("heute Nacht um 2", "2026-12-01T02:00"),
        ("every night at 1:30", "2026-12-01T01:30"),
        ("am Freitag um 2 Uhr nachts", "2026-12-04T02:00"),
        ("Friday night at 10", "2026-12-04T22:00"),
        ("last Friday in December at 8", "2026-12-25T08:00"),
    ],
)
def test_nights_and_last_days_that_leave_nothing_open(text: str, first: str) -> None:
    assert _next(text)[0] == first


def test_the_first_and_the_last_day_of_a_quarter_are_the_calendars() -> None:
    assert _next("jedes Quartal am 1.") == ["2027-01-01T09:00", "2027-04-01T09:00", "2027-07-01T09:00"]
    assert _next("every quarter on the last day") == ["2026-12-31T09:00", "2027-03-31T09:00", "2027-06-30T09:00"]


@pytest.mark.parametrize(
    ("text", "schedule", "rest"),
    [
        ("remind me every day at 9 to drink until Friday", "every day at 9 until Friday", "drink"),
        ("erinnere mich werktags um 8 an die Post ab Montag", "werktags um 8 ab Montag", "Post"),
        ("remind me at 8 to work until Friday", "at 8", "work until Friday"),
    ],
)
def test_how_long_it_goes_on_may_be_said_last(text: str, schedule: str, rest: str) -> None:
    assert find_schedule(text) == (schedule, rest)
