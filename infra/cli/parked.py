"""`schleuse parked`: events that a service could not handle, in all five services."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, print_json, printable
from schemas.catalogue import SERVICES
from shared.errors import NotFound, Refused, SchleuseError
from shared.operator import call

Which = Annotated[str, typer.Argument(help="As `parked list` prints it: service:number.", metavar="SERVICE:NUMBER")]


def register(app: typer.Typer) -> None:
    parked = typer.Typer(help="List, show, replay or drop parked events.", no_args_is_help=True)
    parked.command("list")(list_parked)
    parked.command("show")(show)
    parked.command("replay")(replay)
    parked.command("drop")(drop)
    app.add_typer(parked, name="parked")


def list_parked(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What is parked, where and why."""
    rows = []
    for service, answer in ask_all(state, "parked.list"):
        rows += [{"service": service, "ref": f"{service}:{row['id']}", **row} for row in answer["parked"]]
    if as_json:
        print_json({"parked": rows})
        return
    for row in rows:
        part = " (a part)" if row["is_part"] else ""
        typer.echo(
            printable(
                f"{row['ref']:<16} {row['name']}{part}, {row['attempts']} tries, {row['parked_at']}: {row['reason']}"
            )
        )
    typer.echo(f"{len(rows)} parked")


def show(which: Which, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """One parked event with its bytes."""
    service, number = _split(which)
    row = call(state, service, "parked.show", {"id": number})["parked"]
    if as_json:
        print_json({"service": service, **row})
        return
    for name, value in row.items():
        typer.echo(printable(f"{name:<12} {value}"))


def replay(which: Which, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Run the handler again. Exit code 1 when it fails again; the event then stays parked."""
    _settle(which, "replay", state, as_json)


def drop(which: Which, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Settle it without any effect; that it was dropped stays on record."""
    _settle(which, "drop", state, as_json)


def _settle(which: str, action: str, state: Path, as_json: bool) -> None:
    service, number = _split(which)
    try:
        found = call(state, service, f"parked.{action}", {"id": number})
    except NotFound:
        raise
    except SchleuseError as error:
        if error.code == "not_running":
            raise
        complain(f"{which} stays parked: {error.message}")
        raise typer.Exit(FAILED) from None
    if as_json:
        print_json({"service": service, **found})
    else:
        typer.echo(f"{which}: {'replayed' if action == 'replay' else 'dropped'}")


def _split(which: str) -> tuple[str, int]:
    service, _, number = which.partition(":")
    if service not in SERVICES or not number.isdecimal():
        raise Refused(f"{which!r} is not of the form service:number; `schleuse parked list` shows them")
    return service, int(number)


def ask_all(state: Path, verb: str, args: dict[str, Any] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every service's answer; one that does not answer is complained about. Raises when none does."""
    answered, last = 0, None
    for service in SERVICES:
        try:
            answer = call(state, service, verb, args, patience=30)
        except SchleuseError as error:
            complain(f"{service}: {error.message}")
            last = error
            continue
        answered += 1
        yield service, answer
    if not answered and last is not None:
        raise last
