"""`schleuse agent export|forget`: what the agent keeps of a person, to hand over or to delete (recorded as operator)."""

import os
from base64 import b64decode
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Person = Annotated[str, typer.Option("--person", help="What the person signs in with, as `people list` shows it.", metavar="HANDLE")]  # fmt: skip
File = Annotated[Path, typer.Option("--to", help="Where the ZIP goes; must not be there yet.", metavar="FILE")]
Sure = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def export(person: Person, to: File, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Write everything that the agent keeps of a person into a ZIP that only you can read."""
    found = call(state, "agent", "belongings.export", {"person_id": _id_of(state, person)})
    packed = b64decode(found["zip"])
    try:
        with os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(packed)
    except FileExistsError:
        raise Refused(f"{to} is there already; nothing was written") from None
    if as_json:
        print_json({"file": str(to), "bytes": len(packed)})
    else:
        typer.echo(printable(f"{to}: {len(packed)} bytes"))


def forget(person: Person, yes: Sure = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Delete what a person and the agent said to each other, and all else it keeps of them. What was spent stays, without a word."""
    if not yes:
        typer.confirm(printable(f"Delete for good what the agent keeps of {person}?"), abort=True)
    found = call(state, "agent", "belongings.forget", {"person_id": _id_of(state, person)})
    if as_json:
        print_json(found)
        return
    for name, number in found["deleted"].items():
        typer.echo(printable(f"{name:<16} {counted(number, 'thing')} deleted"))


def _id_of(state: Path, person: str) -> str:
    found: str = call(state, "console", "people.find", {"handle": person})["id"]
    return found
