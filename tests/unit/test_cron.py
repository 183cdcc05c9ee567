"""Cron expressions: five fields as cron has them, over clock changes too (rule 6, decision 0037)."""

from datetime import UTC, datetime
from itertools import islice
from time import process_time
from zoneinfo import ZoneInfo

import pytest

from shared.schedules.calendar import occurrences
from shared.schedules.checks import check_rule
from shared.schedules.cron import BadCron, read_cron
from shared.schedules.domain import Cron

BERLIN = ZoneInfo("Europe/Berlin")
AUTUMN, SPRING = datetime(2027, 10, 31, 1, 30, tzinfo=BERLIN), datetime(2027, 3, 28, 1, 30, tzinfo=BERLIN)


def clock(expression: str, after: datetime, count: int = 4) -> list[str]:
    found = islice(occurrences(read_cron(expression), "Europe/Berlin", after), count)
    return [f"{each.at.astimezone(BERLIN):%d. %H:%M %z}" for each in found]


def test_an_hour_that_is_named_is_one_of_the_wall_clock() -> None:
    assert clock("30 2 * * *", SPRING, 2) == ["28. 03:00 +0200", "29. 02:30 +0200"]
    assert clock("30 2 * * *", AUTUMN, 2) == ["31. 02:30 +0200", "01. 02:30 +0100"]
    assert clock("*/20 2 * * *", SPRING, 2) == ["28. 03:00 +0200", "29. 02:00 +0200"]
    assert clock("*/20 2 * * *", AUTUMN) == ["31. 02:00 +0200", "31. 02:20 +0200", "31. 02:40 +0200", "01. 02:00 +0100"]


def test_an_hour_that_is_left_open_counts_elapsed_time() -> None:
    assert clock("0 * * * *", AUTUMN) == ["31. 02:00 +0200", "31. 02:00 +0100", "31. 03:00 +0100", "31. 04:00 +0100"]
    assert clock("0 0-23 * * *", AUTUMN, 2) == ["31. 02:00 +0200", "31. 02:00 +0100"]
    assert clock("15 * * * *", SPRING, 2) == ["28. 03:15 +0200", "28. 04:15 +0200"]
    assert len(set(clock("*/15 * * * *", AUTUMN, 12))) == 12


def test_days_of_month_and_week_are_as_cron_has_them() -> None:
    start = datetime(2027, 1, 1, tzinfo=UTC)
    days = [f"{each.at:%d}" for each in islice(occurrences(read_cron("0 0 13 * FRI"), "UTC", start), 4)]
    assert days == ["08", "13", "15", "22"]
    assert [f"{each.at:%m-%d}" for each in islice(occurrences(read_cron("0 0 L * *"), "UTC", start), 3)] == ["01-31", "02-28", "03-31"]  # fmt: skip
    assert [f"{each.at:%m-%d}" for each in islice(occurrences(read_cron("0 0 * * SUN#1"), "UTC", start), 2)] == ["01-03", "02-07"]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "expression"),
    [("@daily", "0 0 * * *"), (" @Hourly ", "0 * * * *"), ("0  7 * * mon-fri", "0 7 * * MON-FRI"), ("0 0 * * 7", "0 0 * * 7")],
)  # fmt: skip
def test_what_is_meant_is_written_out(written: str, expression: str) -> None:
    assert read_cron(written).expression == expression


@pytest.mark.parametrize(
    "expression",
    [
        "* * 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 */30 2 MON#2", "@reboot", "@every 5m", "1 2 3 4", "0 1 2 3 4 5", "60 * * * *", "* 24 * * *",
        "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *", "a b c d e", "* * * * MON#6", "* * ? * *", "0 0 15W * *", "٣ * * * *", "",
        "1,,2 * * * *", "-1 * * * *", "1- * * * *", "*/ * * * *", "* " * 200, "*/99999999999999999999 * * * * *", "\0 * * * *", "0 0 L-3 * *",
    ],
)  # fmt: skip
def test_sc_05_what_is_no_expression_or_never_comes_is_refused_at_once(expression: str) -> None:
    began = process_time()
    with pytest.raises(BadCron) as refused:
        read_cron(expression)
    assert process_time() - began < 0.1
    assert refused.value.hint


def test_sc_05_an_expression_that_never_comes_loops_nowhere() -> None:
    for expression in ("* * 31 2 *", "30 4 31 4 *"):
        assert list(occurrences(Cron(expression=expression), "Europe/Berlin", SPRING)) == []


def test_the_rarest_day_is_found_at_once() -> None:
    began = process_time()
    found = next(occurrences(read_cron("0 0 * 2 MON#5"), "UTC", datetime(2072, 3, 1, tzinfo=UTC)))
    assert found.at == datetime(2112, 2, 29, tzinfo=UTC)
    assert process_time() - began < 0.1


def test_what_cron_leaves_out_is_said() -> None:
    start = datetime(2027, 1, 1, tzinfo=UTC)
    assert "cron leaves out months without a 31st" in check_rule(read_cron("0 9 31 * *"), "UTC", start)[0]
    assert check_rule(read_cron("0 9 15,31 * *"), "UTC", start) == ()
