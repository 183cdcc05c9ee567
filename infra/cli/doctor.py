"""`schleuse doctor`: is this machine fit to run it, and is the state directory as it must be?"""

import typer
from rich.console import Console
from rich.markup import escape

from infra.cli.options import DEFAULT_STATE, FAILED, OK, Json, State, print_json
from infra.local.checkup import Finding, examine


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Check the machine and the state directory; exit code 1 when something would fail."""
    found = examine(state)
    failed = sum(each.level == "fail" for each in found)
    if as_json:
        print_json({"checks": [each.as_dict() for each in found], "failed": failed})
    else:
        _show(found)
    raise typer.Exit(FAILED if failed else OK)


def _show(found: list[Finding]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    signs = {"ok": "[green]✓[/]", "note": "[yellow]·[/]", "fail": "[red]✗[/]"}
    for each in found:
        out.print(f"{signs[each.level]} {each.what}: {escape(each.says)}")
