"""`schleuse actions`: what the agent would do in a conversation that has read untrusted text, and deciding it (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Card = Annotated[str, typer.Argument(help="As `actions list` shows it; the first characters do.", metavar="CARD")]
Which = Annotated[
    str, typer.Option("--which", help="pending, allowed, done, failed, refused, expired, revoked or all.")
]
Verdict = Annotated[str, typer.Option("--verdict", help="allow or refuse.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record, and needed to refuse.")]


def register(app: typer.Typer) -> None:
    actions = typer.Typer(help="List the agent's action cards, and decide them.", no_args_is_help=True)
    actions.command("list")(list_actions)
    actions.command("show")(show)
    actions.command("decide")(decide)
    app.add_typer(actions, name="actions")


def list_actions(which: Which = "pending", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The action cards that wait, or others."""
    found = call(state, "console", "actions.list", {"state": which})
    if as_json:
        print_json(found)
        return
    for each in found["actions"]:
        _say(each)
    typer.echo(counted(len(found["actions"]), "card"))


def show(card: Card, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """One card: what would be done, in exact words."""
    found = _whole(state, card)
    if as_json:
        print_json(found)
        return
    _say(found)
    typer.echo(printable(found["arguments"]))
    for source in found["sources"]:
        typer.echo(printable(f"    the conversation has read: {source}"))


def decide(
    card: Card, verdict: Verdict, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Allow what the card says, once, or refuse it; returns when the agent has answered."""
    if verdict not in ("allow", "refuse"):
        raise Refused("an action card is decided with --verdict allow or --verdict refuse")
    order = {"card": _whole(state, card)["card_id"], "verdict": verdict, "reason": reason}
    found = call(state, "console", "actions.decide", order)
    if as_json:
        print_json(found)
    else:
        _say(found)


def _whole(state: Any, card: str) -> dict[str, Any]:
    """The one card whose name begins so; Refused when several or none do."""
    listed = call(state, "console", "actions.list", {"state": "all"})["actions"]
    found: list[dict[str, Any]] = [each for each in listed if each["card_id"].startswith(card.lower())]
    if len(found) != 1:
        raise Refused(f"{len(found) or 'no'} action cards begin with {card}; `schleuse actions list --which all` shows them")  # fmt: skip
    return found[0]


def _say(each: dict[str, Any]) -> None:
    to = f" to {', '.join(each['recipients'])}" if each["recipients"] else ""
    by = f" by {each['by']}" if each["by"] and each["state"] not in ("pending", "expired") else ""
    how = f": {each['outcome']}" if each["outcome"] else ""
    typer.echo(printable(f"{each['card_id']}  {each['state']}{by}: {each['title']}{to}{how}"))
