"""`schleuse schedule preview`: needs nothing that runs."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from infra.cli.main import build

RUN = CliRunner()


def preview(text: str, zone: str = "Europe/Berlin", start: str = "2027-03-26T12:00Z") -> tuple[int, dict[str, Any]]:
    done = RUN.invoke(build(["schedule"]), ["schedule", "preview", text, "--zone", zone, "--from", start, "--json"])
    return done.exit_code, json.loads(done.stdout)


def test_sc_01_the_preview_shows_the_shifted_time() -> None:
    code, found = preview("every day at 02:30")
    assert (code, list(found), found["kind"], found["zone"]) == (0, ["zone", "kind", "rule", "next"], "wall", "Europe/Berlin")  # fmt: skip
    assert [each["utc"] for each in found["next"]][:3] == ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]  # fmt: skip
    assert found["next"][1]["local"] == "2027-03-28T03:00:00+02:00"
    assert found["next"][1]["note"] == "02:30 does not exist on 28 March 2027 (the clocks go forward); it runs at 03:00"
    assert len(found["next"]) == 5


@pytest.mark.parametrize("start", ["2028-02-29T09:00:00Z", "2028-03-01"])
def test_sc_05_the_preview_of_29_february(start: str) -> None:
    code, found = preview("29 Feb 09:00 yearly", "UTC", start)
    assert (code, found["next"][0]["utc"]) == (0, "2029-02-28T09:00:00Z")


@pytest.mark.parametrize(
    ("text", "zone", "start"),
    [
        ("30 Feb", "UTC", "2027-01-01"), ("31 of April", "UTC", "2027-01-01"), ("* * 31 2 *", "UTC", "2027-01-01"), ("every day", "PST", "2027-01-01"),
        ("every day", "UTC+3", "2027-01-01"), ("every 0 seconds", "UTC", "2027-01-01"), ("every blue moon", "UTC", "2027-01-01"),
        ("every day", "UTC", "some day"), ("every day", "UTC", "9999-12-31"), ("every day", "UTC", "2027-02-30"), ("a\0b", "UTC", "2027-01-01"),
        ("", "UTC", "2027-01-01"), ("every day " * 10_000, "UTC", "2027-01-01"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_an_error_with_a_hint(text: str, zone: str, start: str) -> None:
    code, found = preview(text, zone, start)
    assert (code, list(found)) == (1, ["error", "hint"])
    assert found["error"]
    assert found["hint"]


def test_a_moment_without_an_offset_is_of_the_zone() -> None:
    assert preview("every day at 9", "Asia/Tokyo", "2027-01-01T08:59")[1]["next"][0]["utc"] == "2027-01-01T00:00:00Z"
    assert preview("every day at 9", "Asia/Tokyo", "2027-01-01T09:00")[1]["next"][0]["utc"] == "2027-01-02T00:00:00Z"


def test_people_read_it_too() -> None:
    asked = ["schedule", "preview", "am 31. jeden Monats", "--zone", "Europe/Berlin", "--from", "2027-02-01"]
    done = RUN.invoke(build(asked), asked)
    assert done.exit_code == 0
    assert "in Monaten ohne 31. läuft es am letzten Tag des Monats" in done.stdout
    assert "2027-02-28T08:00:00Z   Februar 2027 hat keinen 31.; es läuft am 28." in done.stdout
