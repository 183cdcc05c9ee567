"""The matrix for people: one table per area; rows of one kind that came out right share a line unless all are asked for."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from infra.prove.check import Check

LONGEST = 60
COLOURS = {"ok": "green", "open": "yellow", "FAILED": "red"}


def show(checks: Sequence[Check], seconds: float, *, every: bool) -> None:
    out = Console(highlight=False)
    for area, group in groupby(checks, key=lambda check: check.area):
        rows = list(group)
        out.print(_table(area, rows if every else _folded(rows)))
        out.print(f"{area}: {_counts(rows)}\n")
    out.print(f"[bold]{_counts(checks)} in {seconds:.1f} s[/]")


def tell_separation(*, os_users: bool, egress: bool) -> None:
    """What this installation cannot keep apart, plainly."""
    out = Console(highlight=False, soft_wrap=True)
    if not os_users:
        out.print(
            "[yellow]open[/]: OS users are not separated here, so nothing keeps these apart. Install as root to close them."
        )
    if not egress:
        out.print("[yellow]Egress is not separated[/]: every part may leave this machine, not connectors alone.")


def _table(area: str, rows: Sequence[Check]) -> Table:
    table = Table(title=area, title_justify="left", box=None, pad_edge=False)
    for column in ("actor", "attempt", "expected", "got", ""):
        table.add_column(column, overflow="fold")
    for check in rows:
        mark = _mark(check)
        cells = (check.actor, check.attempt, check.expected, check.got)
        table.add_row(*(escape(_short(text) if check.ok else text) for text in cells), f"[{COLOURS[mark]}]{mark}[/]")
    return table


def _short(text: str) -> str:
    """What came out right need not be read to its end."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _mark(check: Check) -> str:
    return "ok" if check.ok else "open" if check.is_open else "FAILED"


def _folded(rows: Sequence[Check]) -> list[Check]:
    """Rows with the same actor, kind of attempt and outcome become one; what differs from what was expected never does."""
    alike: dict[tuple[str, str, str, str], list[Check]] = {}
    for check in rows:
        key = ("", "", "", check.attempt + check.actor) if check.failed else _kind(check)
        alike.setdefault(key, []).append(check)
    return [same[0] if len(same) == 1 else _one_for(same) for same in alike.values()]


def _one_for(same: Sequence[Check]) -> Check:
    first = same[0]
    actor, kind, expected, got = _kind(first)
    return Check(first.area, actor, f"{kind} ({len(same)} attempts)", expected, got, first.ok)


def _kind(check: Check) -> tuple[str, str, str, str]:
    return check.actor, check.attempt.partition(":")[0], check.expected, check.got


def _counts(checks: Sequence[Check]) -> str:
    failed, still_open = sum(check.failed for check in checks), sum(check.is_open for check in checks)
    parts = [f"{len(checks)} checks", f"{len(checks) - failed - still_open} as expected", f"{failed} failed"]
    return ", ".join([*parts, *([f"{still_open} open"] if still_open else [])])
