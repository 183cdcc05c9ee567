"""`schleuse agent`: how the agent works; what people set, who did, when and why."""

from typing import Annotated, Any

import typer

from infra.cli.belongings import export, forget
from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.errors import Refused
from shared.operator import call

What = Annotated[list[str], typer.Argument(help="cap users 5.00 · cap guests none · cap HANDLE 2.50 (empty: as everybody) · model connector/model · model builtin · proposals off", metavar="SETTING…")]  # fmt: skip
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept.")]
BUILT_IN = "builtin"


def register(app: typer.Typer) -> None:
    agent = typer.Typer(
        help="Settings of the agent: spend caps, its model, proposals; and what it keeps of a person.",
        no_args_is_help=True,
    )
    agent.command("settings")(settings)
    agent.command("set")(set_one)
    agent.command("export")(export)
    agent.command("forget")(forget)
    app.add_typer(agent, name="agent")


def settings(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What is in force, and who set it, when and why."""
    found = call(state, "console", "agent.settings")
    if as_json:
        print_json(found)
        return
    for each in found["settings"]:
        typer.echo(printable(f"{each['title']:<24} {each['words']:<28} {_by(each)}"))


def set_one(what: What, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Set one; in force in every running part within a second."""
    name, subject, value = _read(what)
    found = call(state, "console", "agent.set", {"name": name, "subject": subject, "value": value, "reason": reason})
    if as_json:
        print_json(found)
    else:
        typer.echo(
            printable(f"{' '.join(what)} is in force" if what[-1] else f"{' '.join(what[:-1])} is no longer set")
        )


def _read(what: list[str]) -> tuple[str, str, str]:
    """(name, subject, value)."""
    match what:
        case ["cap", subject, value]:
            return "cap", subject, value
        case ["model", value]:
            return "model", "", "" if value == BUILT_IN else value
        case ["proposals", value]:
            return "proposals", "", value
        case _:
            raise Refused("say what to set: cap users|guests|HANDLE AMOUNT, model CONNECTOR/MODEL, or proposals on|off")


def _by(each: dict[str, Any]) -> str:
    if not each["by"]:
        return "as installed"
    return f"by {each['by']} at {(each['at'] or '')[:16].replace('T', ' ')}: {each['reason']}"
