"""`schleuse connectors`: what may be reached outside, and whether it is on (recorded as operator)."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Name = Annotated[str, typer.Argument(help="As `connectors list` shows it.", metavar="NAME")]
File = Annotated[str, typer.Argument(help="JSON or TOML with name, kind, settings and, if it is to stay off, enabled = false. - reads JSON from stdin.", metavar="FILE")]  # fmt: skip
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record.")]
STATES = {None: "not checked yet", True: "answers", False: "does not answer"}


def register(app: typer.Typer) -> None:
    connectors = typer.Typer(help="List connectors, declare, turn on and off, check.", no_args_is_help=True)
    connectors.command("list")(list_connectors)
    connectors.command("declare")(declare)
    connectors.command("on")(turn_on)
    connectors.command("off")(turn_off)
    connectors.command("check")(check)
    app.add_typer(connectors, name="connectors")


def list_connectors(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What is declared, whether it is on and answers, and who may use it."""
    found = call(state, "console", "connectors.list")
    if as_json:
        print_json(found)
        return
    for each in found["connectors"]:
        _say(each)
        for grant in each["grants"]:
            what = ", ".join([*grant["operations"], *grant["hosts"], *grant["secrets"]])
            typer.echo(printable(f"    {grant['asker']}: {what}; card {grant['card']}"))
    typer.echo(counted(len(found["connectors"]), "connector"))


def declare(file: File, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Declare a connector, or change its settings; returns when the connectors have taken or refused it."""
    wanted = _read(file)
    said = reason or f"declared from {Path(file).name if file != '-' else 'stdin'}"
    _done(call(state, "console", "connectors.declare", wanted | {"reason": said}), as_json)


def turn_on(name: Name, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Let it be used, by those to whom it was granted."""
    _done(call(state, "console", "connectors.switch", {"name": name, "on": True, "reason": reason}), as_json)


def turn_off(name: Name, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Refuse every use at once; calls that run are cut."""
    _done(call(state, "console", "connectors.switch", {"name": name, "on": False, "reason": reason}), as_json)


def check(name: Name, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Ask the other side now whether it answers. Exit code 1 when it does not."""
    found = call(state, "connectors", "connectors.check", {"name": name})
    if as_json:
        print_json(found)
    else:
        typer.echo(printable(f"{name} {STATES[found['ok']]}{': ' if found['reason'] else ''}{found['reason']}"))
    if not found["ok"]:
        raise typer.Exit(FAILED)


def _read(file: str) -> dict[str, Any]:
    """Refused where it is neither JSON nor TOML, or has fields that a connector has not."""
    text = sys.stdin.read() if file == "-" else Path(file).read_text()
    try:
        found = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise Refused(f"{file} cannot be read: {error}") from None
    if not isinstance(found, dict) or not {"name", "kind"} <= found.keys() <= {"name", "kind", "settings", "enabled"}:
        raise Refused(f"{file} must have name and kind, and may have settings and enabled; nothing else")
    return found


def _done(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        _say(found)


def _say(each: dict[str, Any]) -> None:
    health = f"{STATES[each['ok']]}{': ' + each['why'] if each['why'] else ''}" if each["enabled"] else "not looked at"
    where = ", ".join(each["hosts"]) or "no hosts"
    typer.echo(printable(f"{each['name']:<20} {each['kind']:<8} {'on' if each['enabled'] else 'off':<4} {health}; {where}"))  # fmt: skip
