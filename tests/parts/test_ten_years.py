"""Ten years of schedules beside an oracle that reckons the other way round: nothing lost, nothing doubled, every shift as rules 6 and 7 say.

A few zones here; all of them in the long one, and by `schleuse bench time`.
"""

from collections import Counter
from datetime import UTC, datetime
from random import Random

import pytest

from infra.bench.proof.oracle import DAY, calendar, each_minute
from infra.bench.proof.ten_years import all_zones, decade_of, prove, prove_zone

WITH_PITFALLS = ["Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca"]
"""An hour, a day that was left out, half an hour, and clocks that change four times a year."""


@pytest.mark.parametrize("zone", WITH_PITFALLS)
def test_ten_years_lose_and_double_nothing(zone: str) -> None:
    count, faults = prove_zone(zone, 2008, Random(zone), tasks=4)
    assert faults == []
    assert count["fired"] > 0
    assert count["occurrences"] > 3000


def test_what_befalls_the_owners_befell_them() -> None:
    wanted, count = {"takeovers", "refused", "edits", "voided", "outage", "forward", "back"}, Counter[str]()
    for seed in range(20):
        more, faults = prove_zone("Africa/Cairo", 2026, Random(seed), tasks=4)
        assert faults == []
        count.update(more)
        if wanted <= set(count):
            return
    raise AssertionError(f"these never befell them: {wanted - set(count)}")


def test_without_fence_and_unique_rows_the_proof_finds_doubles() -> None:
    _, faults = prove_zone("Europe/Berlin", 2026, Random(3), tasks=2, checked=False)
    assert any("fired 2 times" in each for each in faults)


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", datetime(2014, 3, 30, tzinfo=UTC)), ("Europe/Berlin", datetime(2014, 10, 26, tzinfo=UTC)),
        ("Pacific/Apia", datetime(2011, 12, 30, tzinfo=UTC)), ("Australia/Lord_Howe", datetime(2014, 10, 4, tzinfo=UTC)),
        ("Australia/Lord_Howe", datetime(2015, 4, 4, tzinfo=UTC)), ("Africa/Cairo", datetime(2014, 5, 15, tzinfo=UTC)),
        ("Asia/Pyongyang", datetime(2015, 8, 14, tzinfo=UTC)), ("America/Caracas", datetime(2016, 5, 1, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_the_oracle_agrees_with_going_through_every_minute(zone: str, day: datetime) -> None:
    decade, begin = decade_of(zone, 2008), int(day.timestamp()) - 2 * DAY
    walls = [at.wall + minute * 60 for at in calendar(begin, begin) for minute in range(0, 1440, 45)]
    found = [at for at in each_minute(zone, begin, begin + 5 * DAY, walls) if at > begin]
    expected = sorted({decade.clock.run_of(wall)[0] for wall in walls})
    assert found == [at for at in expected if begin < at < begin + 5 * DAY]


@pytest.mark.long
def test_ten_years_in_every_zone_of_the_world_take_less_than_two_minutes() -> None:
    found = prove(7, all_zones(), print)
    assert found["faults"] == []
    assert found["zones"] > 590
    assert found["cpu_seconds"] < 120
