"""`schleuse cards`: who waits for a person, and deciding it (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Card = Annotated[str, typer.Argument(help="As `cards list` shows it; the first characters do.", metavar="CARD")]
Which = Annotated[str, typer.Option("--which", help="pending, allowed, refused, revoked, expired or all.")]
Verdict = Annotated[str, typer.Option("--verdict", help="allow or refuse.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record, and needed to refuse or revoke.")]


def register(app: typer.Typer) -> None:
    cards = typer.Typer(help="List approval cards, decide, take a decision back.", no_args_is_help=True)
    cards.command("list")(list_cards)
    cards.command("decide")(decide)
    cards.command("revoke")(revoke)
    app.add_typer(cards, name="cards")


def list_cards(which: Which = "pending", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The cards that wait, or others."""
    found = call(state, "console", "cards.list", {"state": which})
    if as_json:
        print_json(found)
        return
    for each in found["cards"]:
        _say(each)
    typer.echo(counted(len(found["cards"]), "card"))


def decide(
    card: Card, verdict: Verdict, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Allow all that the card lists, or refuse it; returns when it is in force."""
    if verdict not in ("allow", "refuse"):
        raise Refused("a card is decided with --verdict allow or --verdict refuse")
    _decided(state, card, verdict, reason, as_json)


def revoke(card: Card, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Take a decision back: what was allowed is not any more, what was refused may be asked again."""
    _decided(state, card, "revoke", reason, as_json)


def _decided(state: Any, card: str, verdict: str, reason: str, as_json: bool) -> None:
    which = _whole(state, card)
    found = call(state, "console", "cards.decide", {"card": which, "verdict": verdict, "reason": reason})
    if as_json:
        print_json(found)
    else:
        _say(found)


def _whole(state: Any, card: str) -> str:
    """The one card whose name begins so; Refused when several do."""
    listed = call(state, "console", "cards.list", {"state": "all"})["cards"]
    found = [each["card_id"] for each in listed if each["card_id"].startswith(card.lower())]
    if len(found) > 1:
        raise Refused(f"{len(found)} cards begin with {card}; name more of it")
    return found[0] if found else card


def _say(each: dict[str, Any]) -> None:
    what = ", ".join([*each["operations"], *each["hosts"], *each["secrets"]])
    by = f" by {each['by']}" if each["by"] and each["state"] not in ("pending", "expired") else ""
    whose = f" for {each['on_behalf_of']}" if each["on_behalf_of"] else ""
    typer.echo(printable(f"{each['card_id']}  {each['state']}{by}: {each['title']}{whose}: {what}"))
    if each["quoted"]:
        typer.echo(printable(f"    it says: “{each['quoted']}”"))
