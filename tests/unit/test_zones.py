"""Names of time zones (rule 6): old ones work, abbreviations and offsets are refused with what to write."""

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from shared.schedules.checks import check_rule
from shared.schedules.domain import Wall
from shared.schedules.zones import UnknownZone, check_zone, fixed_offset, known_zones, wall


@pytest.mark.parametrize(
    "name",
    ["US/Pacific", "Asia/Calcutta", "Etc/GMT+3", "UTC", "GMT", "America/Argentina/Buenos_Aires", "EST5EDT", "Zulu"],
)
def test_sc_04_old_names_are_names(name: str) -> None:
    assert check_zone(name) == name


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("PST", "America/Los_Angeles"), ("cest", "Europe/Berlin"), ("MESZ", "Europe/Berlin"), ("IST", "Asia/Kolkata"),
        ("W. Europe Standard Time", "Europe/Berlin"), ("UTC+3", "Etc/GMT-3 is always UTC+3"), ("GMT-5", "Etc/GMT+5 is always UTC-5"),
        ("+03:00", "Etc/GMT-3"), ("utc +5:30", "Asia/Kolkata"), ("UTC+0", "write UTC"), ("UTC+99", "such as Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"), ("New York", "America/New_York"), ("Europe/Berln", "Europe/Berlin"),
        ("../../etc/passwd", "such as Europe/Berlin"), ("/usr/share/zoneinfo/UTC", "UTC"), ("localtime", "such as"), ("Factory", "such as"),
        ("posix/UTC", "UTC"), ("", "such as"), ("\0", "such as"), ("Europe/Berlin\n", "Europe/Berlin"), ("Z" * 100_000, "such as"),
    ],
)  # fmt: skip
def test_sc_04_what_is_no_name_is_refused_with_one_that_is(name: str, instead: str) -> None:
    with pytest.raises(UnknownZone) as refused:
        check_zone(name)
    assert instead in refused.value.hint
    assert instead in refused.value.message
    assert len(refused.value.message) < 300


def test_sc_04_a_reversed_sign_is_said() -> None:
    assert (fixed_offset("Etc/GMT+3"), fixed_offset("Etc/GMT-14"), fixed_offset("Etc/GMT+0"), fixed_offset("UTC")) == ("UTC-3", "UTC+14", "", "")  # fmt: skip
    rule = Wall.model_validate({"unit": "day", "times": ["09:00"], "start": "2027-01-01"})
    assert check_rule(rule, "Etc/GMT+3", datetime(2027, 1, 1, tzinfo=UTC)) == (
        "Etc/GMT+3 means UTC-3: the sign in these names is the other way round",
    )


def test_the_clock_on_the_wall() -> None:
    assert wall("Asia/Kathmandu", datetime(2027, 1, 1, tzinfo=UTC)) == datetime(2027, 1, 1, 5, 45)


def test_every_name_of_the_world_has_a_clock() -> None:
    at = datetime(2027, 1, 1, tzinfo=UTC)
    assert len({name for name in known_zones() if wall(name, at)}) > 590


def test_sc_04_without_zone_data_of_the_system_it_is_the_same() -> None:
    work = """
from datetime import UTC, datetime
from shared.schedules.zones import check_zone, known_zones, wall
assert __import__("zoneinfo").TZPATH == ()
for name in ("US/Pacific", "Asia/Calcutta", "Etc/GMT+3", "Europe/Berlin"):
    print(check_zone(name), wall(name, datetime(2027, 7, 1, tzinfo=UTC)))
print(len(known_zones()) > 590)
"""
    done = subprocess.run([sys.executable, "-c", work], env={**os.environ, "PYTHONTZPATH": ""}, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "US/Pacific 2027-06-30 17:00:00",
        "Asia/Calcutta 2027-07-01 05:30:00",
        "Etc/GMT+3 2027-06-30 21:00:00",
        "Europe/Berlin 2027-07-01 02:00:00",
        "True",
    ]
