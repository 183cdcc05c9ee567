"""The figures beside what they should be, for people."""

from typing import Any

from rich.console import Console
from rich.table import Table

Targets = tuple[tuple[str, tuple[str, ...], str, float], ...]
"""(what, where it stands in the figures, sign, what should be reached; no sign: for comparison)."""
TARGETS: Targets = (
    ("approve → visible, p50 (ms)", ("approve_to_visible_ms", "p50"), "<=", 20),
    ("approve → visible, p99 (ms)", ("approve_to_visible_ms", "p99"), "<=", 80),
    ("the same at 1,000 signals a second, p99 (ms)", ("approve_to_visible_loaded_ms", "p99"), "<=", 200),
    ("the same while 100,000 events drain, p99 (ms)", ("approve_to_visible_backlog_ms", "p99"), "<=", 300),
    ("single events, site → lock → console (/s)", ("events_per_s",), ">=", 4000),
    ("signals in micro-batches (/s)", ("signals_per_s",), ">=", 15000),
    ("raw: atomic batch of 100 with fsync (/s)", ("raw", "js_publish_per_s"), "", 0),
    ("raw: fetch 100 and ack (/s)", ("raw", "js_fetch_per_s"), "", 0),
    ("raw: Postgres batch of 100 (/s)", ("raw", "pg_batch_per_s"), "", 0),
    ("single events to the slowest raw leg", ("ratio_to_slowest_raw",), ">=", 0.4),
    ("cached page (/s and core)", ("page_cached_per_s",), ">=", 8000),
    ("withdraw → gone everywhere, p99 (ms)", ("withdraw_ms", "p99"), "<=", 2000),
    ("memory of the five services (MB)", ("rss_mb",), "<", 700),
)


def reached(found: dict[str, Any], targets: Targets = TARGETS) -> list[tuple[str, float, str, bool | None]]:
    """(what, figure, target, whether it was reached); None where there is no target."""
    return [
        (what, figure := _at(found, path), _target(sign, aim), _meets(figure, sign, aim))
        for what, path, sign, aim in targets
    ]


def show(found: dict[str, Any], targets: Targets = TARGETS) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("figure", "reached", "target", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    for what, figure, target, good in reached(found, targets):
        mark = "" if good is None else "[green]ok[/]" if good else "[red]missed[/]"
        table.add_row(what, f"{figure:,g}", target, mark)
    Console(highlight=False).print(table)


def _at(found: dict[str, Any], path: tuple[str, ...]) -> float:
    value: Any = found
    for name in path:
        value = value[name]
    return float("nan") if value is None else float(value)


def _target(sign: str, aim: float) -> str:
    return f"{sign} {aim:,g}" if sign else ""


def _meets(figure: float, sign: str, aim: float) -> bool | None:
    return {"<=": figure <= aim, ">=": figure >= aim, "<": figure < aim}.get(sign)
