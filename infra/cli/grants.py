"""`schleuse grants`: everything that anybody may do in this installation, as it is now, against what the code says."""

from typing import Annotated, cast

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, OK, Json, State, print_json
from infra.observe.grants.line import AREAS, Area, Line
from infra.observe.grants.show import show
from infra.observe.grants.take import inventory

Areas = Annotated[
    list[str], typer.Option("--area", help=f"Only this ({', '.join(AREAS)}); may be given more than once.")
]
Diff = Annotated[bool, typer.Option("--diff", help="Only what is not as expected.")]


def register(app: typer.Typer) -> None:
    app.command()(grants)


def grants(state: State = DEFAULT_STATE, as_json: Json = False, diff: Diff = False, area: Areas = []) -> None:  # noqa: B006 - typer copies it
    """List every role, grant, account, permission, file mode, process and port, as it is now. Exit code 1 on any difference."""
    for each in area:
        if each not in AREAS:
            raise typer.BadParameter(f"no area is called {each}; there are {', '.join(AREAS)}")
    found = inventory(state, cast(list[Area], area))
    if as_json:
        lines = [line for line in found["lines"] if not (diff and line["state"] == "expected")]
        print_json(found | {"lines": lines})
    else:
        show([Line(**line) for line in found["lines"]], found["seconds"], only_differences=diff)
    raise typer.Exit(FAILED if found["differences"] else OK)
