"""The inventory for people: a table for each surface; what differs stands in red, with what to do."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from infra.cli.options import printable
from infra.observe.grants.line import Line, count

LONGEST = 72
SIGNS = {"expected": "[green]✓[/]", "missing": "[red]− missing[/]", "extra": "[red]+ extra[/]", "different": "[red]≠ different[/]", "unknown": "[yellow]? unknown[/]", "open": "[yellow]○ open[/]"}  # fmt: skip


def show(lines: Sequence[Line], seconds: float, *, only_differences: bool) -> None:
    out = Console(highlight=False)
    for surface, group in groupby(lines, key=lambda line: line.surface):
        rows = list(group)
        shown = [line for line in rows if not (only_differences and line.is_right)]
        if shown:
            out.print(_table(surface, shown))
            out.print(f"{surface}: {_counted(rows)}\n")
    colour = "red" if any(line.differs for line in lines) else "green"
    out.print(f"[bold {colour}]{_counted(lines)}[/] in {seconds:.1f} s")


def _table(surface: str, rows: Sequence[Line]) -> Table:
    table = Table(title=surface, title_justify="left", box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("area", no_wrap=True)
    table.add_column("what", overflow="fold", ratio=3)
    table.add_column("is", overflow="fold", ratio=4)
    for line in rows:
        table.add_row(SIGNS[line.state], line.area, _safe(line.what), _said(line))
    return table


def _said(line: Line) -> str:
    if line.is_right:
        return _safe(_short(line.got))
    parts = {"missing": f"must be: {line.expected}", "extra": line.got, "unknown": line.hint}
    said = parts.get(line.state) or f"{line.got} [must be: {line.expected}]"
    advice = f"\n→ {line.hint}" if line.hint and line.state != "unknown" else ""
    return f"[{'red' if line.differs else 'yellow'}]{_safe(said)}[/]{_safe(advice)}"


def _safe(text: str) -> str:
    return escape(printable(text))


def _short(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= LONGEST else f"{one[: LONGEST - 1]}…"


def _counted(lines: Sequence[Line]) -> str:
    counts = count(lines)
    parts = [f"{counts['expected']} as expected"]
    return ", ".join(
        parts + [f"{number} {state}" for state, number in counts.items() if number and state != "expected"]
    )
