"""What the console makes of the supervisor's reports: stale and missing are told as unknown, never as well."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.console.system.cells import cells, verdict
from services.console.system.domain import PAGE, Filter, choices, counted, search
from services.console.system.reports import ASKED, FIGURES, INVENTORY, WATCHED, Reports
from shared.clock import now
from shared.errors import Transient
from tests.unit.test_top import UNKNOWN, part, sample


@pytest.fixture
def run(tmp_path: Path) -> Path:
    for name in ("report", "console"):
        (tmp_path / name).mkdir()
    return tmp_path


def report(run: Path, content: dict[str, Any], *, age: float = 0.0) -> None:
    at = (now() - timedelta(seconds=age)).isoformat()
    (run / "report" / FIGURES).write_text(json.dumps(content | {"taken_at": at}))


def test_fresh_figures_without_a_problem_are_well(run: Path) -> None:
    report(run, sample())
    found = Reports(run).figures()
    assert (verdict(found).text, verdict(found).tone) == ("all well", "live")
    assert cells(found)["part.site.lag"].text == "0"


def test_old_figures_are_unknown_however_well_they_were(run: Path) -> None:
    report(run, sample(), age=120)
    assert (verdict(Reports(run).figures()).text, verdict(Reports(run).figures()).tone) == (
        "unknown since 2 min",
        "stop",
    )


BROKEN: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "half": lambda path: path.write_text('{"taken_at": "2026'),
    "without a time": lambda path: path.write_text("{}"),
    "no object": lambda path: path.write_text("[]"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_report_that_cannot_be_read_is_told_as_unknown(run: Path, how: str) -> None:
    BROKEN[how](run / "report" / FIGURES)
    found = Reports(run).figures()
    assert found.content is None and found.why and cells(found) == {}
    assert verdict(found).tone == "stop"


def test_what_is_unknown_is_a_dash_and_never_zero(run: Path) -> None:
    blank = dict.fromkeys(
        ("pid", "cpu", "rss", "pss", "postgres", "bus", "in", "out", "web", "lag", "unsent", "oldest", "parked")
    )
    report(run, UNKNOWN | {"parts": {"site": part(ready=False, state="ended", **blank)}, "problems": []})
    made = cells(Reports(run).figures())
    unknown = {name for name, cell in made.items() if cell.text == "—"}
    assert unknown >= {
        f"part.site.{name}" for name in ("pid", "cpu", "memory", "lag", "unsent", "parked", "in", "postgres")
    }
    assert unknown >= {"lock.seq", "lock.behind", "lock.head", "audit.whole", "store.size", "store.backup"}
    assert made["part.site.state"].tone == "stop"


def test_a_chart_has_a_gap_where_a_rate_is_unknown(run: Path) -> None:
    report(run, sample(parts={"site": part(history={"in": [1.0, None, 2.0], "out": [None, None, None]})}))
    made = cells(Reports(run).figures())
    assert made["part.site.in_trend"].points.count("M") == 2 and "L" not in made["part.site.in_trend"].points
    assert made["part.site.out_trend"].points == ""


def test_looking_and_asking_are_told_by_the_time_of_two_files(run: Path) -> None:
    reports = Reports(run)
    assert reports.asked_at() == 0.0
    reports.figures()
    reports.ask_for_inventory()
    assert {path.name for path in (run / "console").iterdir()} == {ASKED, WATCHED}
    assert reports.asked_at() > 0
    (run / "console" / ASKED).unlink()
    (run / "console" / WATCHED).unlink()
    (run / "console").rmdir()
    with pytest.raises(Transient):
        reports.ask_for_inventory()


def line(**changed: str) -> dict[str, str]:
    return {
        "area": "postgres",
        "surface": "site",
        "what": "role site",
        "expected": "login",
        "got": "login",
        "state": "expected",
        "hint": "",
    } | changed


LINES = [
    line(),
    line(what="role agent", surface="agent"),
    line(area="files", what="keys/site/bus.nk", got="0644", state="different", hint="chmod 600"),
]


def test_lines_are_found_by_words_place_and_state() -> None:
    assert search(LINES, Filter()).lines[0]["state"] == "different", "what differs comes first"
    assert [each["what"] for each in search(LINES, Filter(q="ROLE", surface="agent")).lines] == ["role agent"]
    assert search(LINES, Filter(state="differences")).count == 1
    assert search(LINES, Filter(state="expected")).count == 2
    assert search(LINES, Filter(q="chmod")).count == 1
    assert search(LINES, Filter(page=2)).lines == []
    assert search(LINES * PAGE, Filter(page=2)).count == 3 * PAGE
    assert choices(LINES, "surface") == ["site", "agent"]
    assert counted(LINES) == [
        {"surface": "site", "lines": 2, "differences": 1},
        {"surface": "agent", "lines": 1, "differences": 0},
    ]


def test_the_inventory_is_read_like_the_figures(run: Path) -> None:
    (run / "report" / INVENTORY).write_text(json.dumps({"taken_at": now().isoformat(), "lines": LINES}))
    found = Reports(run).inventory()
    assert found.content is not None and found.content["lines"] == LINES
