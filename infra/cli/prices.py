"""`schleuse prices`: what a model costs here, and who says so."""

from decimal import Decimal
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, print_json, printable
from services.agent.spend.listed import listed, version
from services.agent.spend.overrides import FILE
from services.agent.spend.prices import Prices
from services.agent.spend.rates import Rates

MOST_LIKE = 12


def register(app: typer.Typer) -> None:
    app.command("prices")(prices)


def prices(
    model: Annotated[str, typer.Argument(help="A model, or connector/model; without one the price file.")] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """What a model costs, in dollars per million tokens: from prices.toml in the state directory, else as the product knows it.

    A model without a valid price cannot be used under a spend cap (rule 3).
    """
    known = Prices(state, tell=lambda _: None)
    if model:
        _one(known, model, as_json=as_json)
    else:
        _file(known, as_json=as_json)


def _one(known: Prices, asked: str, *, as_json: bool) -> None:
    connector, _, rest = asked.partition("/")
    rates = known.of(connector, rest) if rest else None
    rates = rates or known.of("-", asked)
    if rates is None:
        like = sorted({f"{provider}/{name}" for provider, name in listed() if asked.lower() in name.lower()})
        if as_json:
            print_json({"model": asked, "price": None, "like": like[:MOST_LIKE]})
        complain(f"{printable(asked)} has no valid price; put one into {FILE} in the state directory")
        for each in [] if as_json else like[:MOST_LIKE]:
            typer.echo(f"known: {each}")
        raise typer.Exit(FAILED)
    if as_json:
        print_json({"model": asked, "price": _plain(rates)})
        return
    for step in _plain(rates)["steps"]:
        above = f" above {step['above']:,} tokens" if step["above"] >= 0 else ""
        call = f", ${step['call']} a call" if step["call"] != "0" else ""
        typer.echo(f"${step['input']} in, ${step['output']} out, ${step['cached']} cached{call}{above}")
    typer.echo(f"dollars per million tokens; {rates.source}")


def _file(known: Prices, *, as_json: bool) -> None:
    said = known.overrides()
    if as_json:
        prices = {name: _plain(rates) for name, rates in said.rates.items()}
        print_json(
            {"file": prices, "faults": said.faults, "broken": said.broken, "listed": f"genai-prices {version()}"}
        )
    else:
        for name, rates in said.rates.items():
            typer.echo(f"{printable(name):<40} {'free' if rates.is_free else _short(rates)}")
        typer.echo(f"{len(said.rates)} in {FILE}; for everything else genai-prices {version()}")
    for fault in [*([said.broken] if said.broken else []), *said.faults.values()]:
        complain(fault)
    if said.broken or said.faults:
        raise typer.Exit(FAILED)


def _short(rates: Rates) -> str:
    step = rates.steps[0]
    return f"${_number(step.tokens_in)} in, ${_number(step.tokens_out)} out"


def _plain(rates: Rates) -> dict[str, Any]:
    steps = [
        {"above": each.above, "input": _number(each.tokens_in), "output": _number(each.tokens_out), "cached": _number(each.cached), "call": _number(each.call)}
        for each in rates.steps
    ]  # fmt: skip
    return {"free": rates.is_free, "source": rates.source, "steps": steps}


def _number(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
