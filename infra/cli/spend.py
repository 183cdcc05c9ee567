"""`schleuse spend`: what the agent spent, as the console has it from the agent's ledger."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.operator import call


def register(app: typer.Typer) -> None:
    app.command("spend")(spend)


def spend(
    by: Annotated[str, typer.Option("--by", help="owner, app, model, day or turn.")] = "owner",
    days: Annotated[int, typer.Option("--days", min=1, max=365, help="Of 24 hours: 1 is what the cap looks at.")] = 30,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """What the agent spent, in exact US dollars, and what is left under the caps. Another process's running calls are not in it."""
    found = call(state, "console", "spend.show", {"by": by, "days": days})
    if as_json:
        print_json(found)
        return
    for line in found["lines"]:
        name = f"{line['name']} {line['key']}" if by == "turn" else line["name"]
        typer.echo(f"{_dollars(line['cost']):>14}  {line['calls']:>7} calls  {printable(name)}{_doubts(line)}")
    total = found["total"]
    typer.echo(f"{_dollars(total['cost']):>14}  {total['calls']:>7} calls  together{_doubts(total)}")
    if found["more"]:
        typer.echo("(only the first are listed; the sum counts them all)")
    for cap in found["last_24_hours"]:
        limit = "no limit" if cap["cap"] is None else f"{_dollars(cap['left'])} left of {_dollars(cap['cap'])}"
        typer.echo(f"last 24 hours: {printable(cap['name'])} {_dollars(cap['spent'])}, {limit}")


def _doubts(line: dict[str, Any]) -> str:
    said = [f"{line['estimated']} estimated"] if line["estimated"] else []
    said += [f"{line['unknown']} of unknown cost"] if line["unknown"] else []
    return f" ({', '.join(said)})" if said else ""


def _dollars(amount: str) -> str:
    whole, _, part = amount.partition(".")
    return f"${int(whole):,}.{part:0<2}"
