"""`schleuse automations`: what the agent does by itself because a person allowed it, and taking that back (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Card = Annotated[str, typer.Argument(help="Its card, as `automations list` shows it; the first characters do.", metavar="CARD")]  # fmt: skip
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record.")]
Everything = Annotated[bool, typer.Option("--all", help="Also those that have ended.")]


def register(app: typer.Typer) -> None:
    automations = typer.Typer(help="List the agent's automations, and take one back.", no_args_is_help=True)
    automations.command("list")(list_automations)
    automations.command("revoke")(revoke)
    app.add_typer(automations, name="automations")


def list_automations(everything: Everything = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Whose they are, when they run next, and who allowed them. One is asked for in the chat and allowed by `actions decide`."""
    found = call(state, "console", "automations.list", {"all": everything})
    if as_json:
        print_json(found)
        return
    for each in found["automations"]:
        _say(each)
    typer.echo(counted(len(found["automations"]), "automation"))


def revoke(card: Card, reason: Reason, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """It runs no more, and what runs of it is stopped; returns when the agent has answered."""
    listed: list[dict[str, Any]] = call(state, "console", "automations.list", {"all": True})["automations"]
    meant = [each for each in listed if each["card"].startswith(card.lower())]
    if len(meant) != 1:
        raise Refused(f"{len(meant) or 'no'} automations begin with {card}; `schleuse automations list --all` shows them")  # fmt: skip
    found = call(state, "console", "automations.revoke", {"card": meant[0]["card"], "reason": reason})
    if as_json:
        print_json(found)
    else:
        _say(found)


def _say(each: dict[str, Any]) -> None:
    when = f", next {each['next_at']}" if each.get("next_at") else f": {each['reason']}" if each.get("reason") else ""
    by = f", allowed by {each['allowed_by']}" if each.get("allowed_by") else ""
    typer.echo(printable(f"{each['card']}  {each['state']}: {each['title']} ({each['when']}), for {each['owner_name']}{by}{when}"))  # fmt: skip
