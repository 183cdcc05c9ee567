"""What an operator is told first, and that unknown is never zero. Pure: no server, no process."""

import io
from typing import Any

import pytest
from rich.console import Console

from infra.observe.top.problems import problems
from infra.observe.top.show import screen, spark
from shared.figures import age, bytes_in_words, number, rate, share


def part(**changed: Any) -> dict[str, Any]:
    quiet = {
        "state": "ready", "ready": True, "pid": 7, "restarts": 0, "cpu": 0.01, "rss": 10**8, "pss": None, "postgres": [3, 16], "bus": 1, "in": 0.0, "out": 0.0,
        "web": None, "lag": 0, "unsent": 0, "oldest": 0.0, "parked": 0, "red": [], "history": {"in": [0.0], "out": [None]},
    }  # fmt: skip
    return quiet | changed


def sample(**changed: Any) -> dict[str, Any]:
    quiet = {
        "taken_at": "2026-11-29T03:04:05.000+00:00", "every": 2.0, "ready": True, "up_seconds": 60.0, "parts": {"postgres": part(postgres=None), "site": part()},
        "readers": [{"reader": "site", "stream": "TO_SITE", "durable": "site", "pending": 0, "in_hand": 0, "redelivered": 0}],
        "streams": [{"name": "TO_SITE", "bytes": 0, "limit": 2 * 1024**3, "messages": 0}],
        "gate": {"seq": 9, "age": 3.0, "whole": True, "at_site": 9, "behind": 0, "head_age": 30}, "audit": {"seq": None, "age": None, "whole": True},
        "postgres": {"used": 20, "limit": 100, "oldest_transaction": 0.0, "sizes": {"site_db": 8 * 1024**2}},
        "disk": {"free": 60 * 1024**3, "total": 100 * 1024**3}, "backup_age": None, "problems": [],
    }  # fmt: skip
    return quiet | changed


UNKNOWN = sample(
    parts={}, readers=None, streams=None, up_seconds=None, gate=None, audit=None,
    postgres={"used": None, "limit": None, "oldest_transaction": None, "sizes": None},
)  # fmt: skip
TROUBLE = {
    "site is 42 events behind": {"parts": {"site": part(lag=42)}},
    "2 parked at site": {"parts": {"site": part(parked=2)}},
    "disk 93 %": {"disk": {"free": 7 * 1024**3, "total": 100 * 1024**3}},
    "site is ended": {"parts": {"site": part(state="ended", ready=False)}},
    "site: rows: 2 not shown": {"parts": {"site": part(red=["rows: 2 not shown"])}},
    "site does not answer": {"parts": {"site": part(ready=False, state="silent")}},
    "site has 5 events to send, the oldest for 40 s": {"parts": {"site": part(unsent=5, oldest=40.0)}},
    "site uses 15 of 16 connections": {"parts": {"site": part(postgres=[15, 16])}},
    "the bus does not answer": {"readers": None, "streams": None},
    "Postgres does not answer": {"postgres": {"used": None, "limit": None, "oldest_transaction": None, "sizes": None}},
    "a transaction has been open for 10 min": {"postgres": {"used": 1, "limit": 100, "oldest_transaction": 600.0, "sizes": None}},
    "the gate’s log is broken": {"gate": sample()["gate"] | {"whole": False}},
    "the site’s newest signed head is 30 h old": {"gate": sample()["gate"] | {"head_age": 108_000}},
    "TO_SITE holds 90 % of what it may": {"streams": [{"name": "TO_SITE", "bytes": 90, "limit": 100, "messages": 1}]},
    "the newest backup is 10 d old": {"backup_age": 864_000.0},
}  # fmt: skip


def said(found: list[dict[str, str]]) -> str:
    return " | ".join(each["text"] for each in found)


@pytest.mark.parametrize("words", TROUBLE)
def test_trouble_is_said_in_words(words: str) -> None:
    assert words in said(problems(sample(**TROUBLE[words]), None))


def test_a_quiet_system_has_no_problem_and_neither_has_one_without_a_backup_or_calls() -> None:
    assert problems(sample(), None) == []


def test_what_does_not_work_stands_before_what_needs_a_look() -> None:
    found = problems(sample(parts={"site": part(parked=1), "agent": part(ready=False, state="starting")}), None)
    assert [each["tone"] for each in found] == ["stop", "wait"]


def test_a_server_that_is_away_is_said_once() -> None:
    away = {"used": None, "limit": None, "oldest_transaction": None, "sizes": None}
    parts = {
        name: part(red=["database: the database went away", "relay: the database is away"])
        for name in ("site", "agent")
    }
    assert said(problems(sample(parts=parts, postgres=away), None)) == "Postgres does not answer"
    parts |= {"postgres": part(ready=False, state="starting")}
    assert said(problems(sample(parts=parts, postgres=away), None)) == "postgres is starting"


def test_the_site_may_be_an_entry_behind_for_a_moment() -> None:
    behind = sample(gate=sample()["gate"] | {"at_site": 8, "behind": 1})
    assert problems(behind, sample()) == []
    assert "1 entries behind" in said(problems(behind, behind))


def test_nothing_known_is_a_problem_and_no_figure_is_zero() -> None:
    assert "the supervisor does not answer" in said(problems(UNKNOWN, None))
    text = shown(UNKNOWN | {"problems": problems(UNKNOWN, None)})
    lines = {line.split("  ")[0].strip(): line for line in text.splitlines() if "  " in line}
    assert "—" in lines["Postgres"] and "0" not in lines["Postgres"]
    assert lines["readers"].endswith("—") and lines["bus"].endswith("—") and lines["lock"].endswith("—")


def shown(found: dict[str, Any], width: int = 80) -> str:
    written = io.StringIO()
    Console(width=width, file=written, highlight=False).print(screen(found, width))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def test_it_fits_into_eighty_columns() -> None:
    busy = part(
        pid=1_234_567,
        cpu=1.04,
        rss=10**9,
        postgres=[16, 16],
        lag=12_345,
        unsent=12_345,
        parked=123,
        **{"in": 1234.0, "out": 9999.0, "web": 12.3},
    )
    text = shown(sample(parts={"connectors-2": busy, "postgres": part()}))
    assert max(map(len, text.splitlines())) <= 80
    assert "12345" in text and "16/16" in text and "…" not in text


def test_while_it_stays_open_nothing_moves_however_much_there_is_to_say() -> None:
    def line_of_the_table(count: int) -> int:
        found = [
            {"tone": "stop", "text": f"part {number} is ended " + "x" * 100, "hint": ""} for number in range(count)
        ]
        written = io.StringIO()
        Console(width=80, file=written, highlight=False).print(screen(sample(problems=found), 80, live=True))
        return next(at for at, line in enumerate(written.getvalue().splitlines()) if line.startswith("part  "))

    assert len({line_of_the_table(count) for count in (0, 1, 3, 9)}) == 1


def test_what_parts_say_cannot_move_the_cursor() -> None:
    assert "\x1b" not in shown(sample(problems=[{"tone": "stop", "text": "site: \x1b[2Jgone", "hint": ""}]))


def test_a_gap_in_the_little_chart_is_a_gap() -> None:
    assert spark([0.0, None, 5.0, 10.0], 10.0) == "▁ ▄█"


def test_figures_in_words() -> None:
    assert [number(None), rate(None), share(None), bytes_in_words(None), age(None)] == ["—"] * 5
    assert [rate(0.0), rate(0.25), rate(12.4), share(0.934), age(30.0), age(600.0)] == [
        "0",
        "0.2",
        "12",
        "93%",
        "30 s",
        "10 min",
    ]
    assert [bytes_in_words(each) for each in (0, 900, 1536, 96 * 1024**2, 3 * 1024**3)] == [
        "0B",
        "900B",
        "1.5K",
        "96M",
        "3.0G",
    ]
