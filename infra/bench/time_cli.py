"""`schleuse bench time`: the proof of time."""

import sys
from typing import Annotated

import typer

from infra.bench.proof.ten_years import all_zones, prove
from infra.cli.options import FAILED, Json, print_json


def time(
    seed: Annotated[int, typer.Option("--seed", help="Of the schedules and of what befalls them; the same one repeats the same ten years.")] = 1,
    zones: Annotated[int, typer.Option("--zones", min=1, help="So many of all zones, evenly; all by default.")] = 10_000,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Prove the calendar and the planning of tasks: ten years in every time zone, random schedules, restarts, clock steps, two owners of the loop.

    An oracle that shares no code with the calendar says what should have run. Exit 1 when a time was lost, doubled, or shifted otherwise than rules 6 and 7 say.
    """
    every = all_zones()
    step = max(len(every) // min(zones, len(every)), 1)
    found = prove(seed, every[::step][:zones], _say)
    if as_json:
        print_json(found)
    else:
        for name, figure in found.items():
            typer.echo(f"{name:<16} {figure if name != 'faults' else len(figure)}")
        for fault in found["faults"]:
            typer.echo(fault)
    if found["fault_count"]:
        raise typer.Exit(FAILED)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
