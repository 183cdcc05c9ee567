"""`schleuse apikey` and `schleuse token`: keys of the agent's API, made for a person and taken back (recorded as operator)."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.errors import Transient
from shared.operator import call

Handle = Annotated[str, typer.Argument(help="What the person signs in with, as `people list` shows it.", metavar="HANDLE")]  # fmt: skip
Id = Annotated[str, typer.Argument(help="As the list shows it.", metavar="ID")]
Name = Annotated[str, typer.Option("--name", help="What it is for.")]
Role = Annotated[str, typer.Option("--role", help="The most that it may do; the person's own role when left out.")]
Days = Annotated[int, typer.Option("--days", min=0, help="How long it lives; 0: until it is revoked.")]
Minutes = Annotated[int, typer.Option("--minutes", min=1, max=60, help="How long it lives.")]
KNOWN_WITHIN = 10.0
"""Seconds until the agent must have heard of it."""
ONCE = "Shown once. Send it as `Authorization: Bearer …`; it opens the workspace's API as that person."


def register(app: typer.Typer) -> None:
    """Both commands; `main` imports this module for either."""
    keys = typer.Typer(help="Keys of the agent's API: make, list, revoke.", no_args_is_help=True)
    keys.command("create")(create_key)
    keys.command("list")(_lister("apikey"))
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="apikey")
    tokens = typer.Typer(help="Short-lived tokens of the agent's API: make, list, revoke.", no_args_is_help=True)
    tokens.command("create")(create_token)
    tokens.command("list")(_lister("token"))
    tokens.command("revoke")(revoke)
    app.add_typer(tokens, name="token")


def create_key(
    handle: Handle,
    name: Name = "",
    role: Role = "",
    days: Days = 0,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Make a key that opens the agent's API as that person, until it is revoked."""
    _made(make_access(state, "apikey", handle, name, role, days * 86400 or None), as_json)


def create_token(
    handle: Handle, name: Name = "", role: Role = "", minutes: Minutes = 60, state: State = DEFAULT_STATE, as_json: Json = False
) -> None:  # fmt: skip
    """Make a token that opens the agent's API as that person, for an hour at most."""
    _made(make_access(state, "token", handle, name, role, minutes * 60), as_json)


def make_access(
    state: Path, kind: str, handle: str, name: str = "", role: str = "", seconds: float | None = None
) -> dict[str, str]:
    """{"id", "key"}, once the agent knows it. Whoever makes one for a person is recorded as the operator."""
    args = {"kind": kind, "handle": handle, "name": name, "role": role, "seconds": seconds}
    made = call(state, "console", "access.create", args)
    _wait_for(state, made["id"], good=True)
    return {"id": str(made["id"]), "key": str(made["key"])}


def revoke(id_: Id, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """It opens nothing any more, within a second."""
    found = call(state, "console", "access.revoke", {"id": id_})
    _wait_for(state, id_, good=False)
    if as_json:
        print_json(found)
    else:
        typer.echo("revoked" if found["revoked"] else "it was revoked before")


def _lister(kind: str) -> Callable[..., None]:
    def listed(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
        """Those in force, without the keys themselves, which stand nowhere."""
        found = call(state, "console", "access.list", {"kind": kind})
        if as_json:
            print_json(found)
            return
        for each in found["keys"]:
            typer.echo(printable(_line(each)))
        number, word = len(found["keys"]), "key" if kind == "apikey" else "token"
        typer.echo(f"{number} {word}{'' if number == 1 else 's'}")

    return listed


def _line(each: dict[str, Any]) -> str:
    able = f"acts as {each['role']}" if each["role"] else "opens nothing: its person is shut out"
    ends = f"until {each['expires_at'][:16].replace('T', ' ')}" if each["expires_at"] else "until revoked"
    return f"{each['id']}  {each['handle']:<24} {each['name']:<24} {able}, {ends}, by {each['made_by']}"


def _made(found: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['key']}\n{ONCE}")


def _wait_for(state: Path, access_id: str, *, good: bool) -> None:
    """Until the agent has heard it from the console, by way of the lock."""
    deadline = time.monotonic() + KNOWN_WITHIN
    while True:
        if call(state, "agent", "access.known", {"id": access_id})["good"] is good:
            return
        if time.monotonic() > deadline:
            raise Transient(
                f"the agent has not heard of it in {KNOWN_WITHIN:.0f} s; it goes on by itself, see `status`"
            )
        time.sleep(0.02)
