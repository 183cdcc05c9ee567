"""`schleuse down`: stop everything in order."""

import time

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, print_json
from infra.local import control, place
from infra.local.layout import Layout

WAIT_SECONDS = 20.0


def register(app: typer.Typer) -> None:
    app.command()(down)


def down(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Stop everything in order; nothing is lost. Exit code 3 when nothing was running."""
    layout = Layout(state.resolve())
    began = time.monotonic()
    pid = control.ask(layout, "stop")["pid"]
    if not _gone(layout, pid):
        complain(f"the supervisor (process {pid}) did not stop within {WAIT_SECONDS:.0f} s")
        raise typer.Exit(FAILED)
    seconds = round(time.monotonic() - began, 1)
    print_json({"stopped": True, "seconds": seconds}) if as_json else typer.echo(f"Stopped in {seconds} s.")


def _gone(layout: Layout, pid: int) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while place.held(layout) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not place.held(layout)
