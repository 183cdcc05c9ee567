"""`schleuse analytics`: figures over time, by Postgres, or by ClickHouse when you say why; and the copy that ClickHouse holds."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.operator import call

LINES = 200


def register(app: typer.Typer) -> None:
    analytics = typer.Typer(help="Figures over time; the copy in ClickHouse.", no_args_is_help=True)
    analytics.command("ask")(ask)
    analytics.command("state")(state_of)
    analytics.command("sync")(sync)
    analytics.command("rebuild")(rebuild)
    app.add_typer(analytics, name="analytics")


def ask(
    source: Annotated[str, typer.Option("--of", help="signals, calls or spend.")] = "signals",
    bucket: Annotated[str, typer.Option("--in", help="all, minute, hour, day, week or month; UTC.")] = "day",
    by: Annotated[
        str, typer.Option("--by", help="Of signals: none, kind, item, lang, page, referrer or link.")
    ] = "none",
    days: Annotated[int, typer.Option("--days", min=1, max=3660, help="Before now.")] = 30,
    kind: Annotated[str, typer.Option("--kind", help="Only views, votes, … (of signals).")] = "",
    engine: Annotated[str, typer.Option("--engine", help="postgres, or clickhouse with a reason.")] = "postgres",
    reason: Annotated[str, typer.Option("--reason", help="Why ClickHouse.")] = "",
    compare: Annotated[bool, typer.Option("--compare", help="Ask both, and say whether they agree.")] = False,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Figures in buckets of time, with the rows that were read and what the other engine would have cost."""
    asked = {"source": source, "bucket": bucket, "by": by, "days": days, "kind": kind}
    found = call(
        state,
        "console",
        "analytics.ask",
        {**asked, "engine": engine, "reason": reason, "compare": compare},
        patience=120,
    )
    if as_json:
        print_json(found)
        return
    for row in found["rows"][:LINES]:
        figures = "  ".join(f"{name} {value}" for name, value in row.items() if name not in ("at", "key"))
        typer.echo(f"{(row['at'] or '')[:16]:<16}  {printable(row['key'])[:60]:<30}  {figures}".strip())
    if len(found["rows"]) > LINES or found["more"]:
        typer.echo(f"(only the first {LINES} lines; --json gives up to 5,000)")
    for each in (found["cost"], found["other"]):
        typer.echo(_cost(each))
    if found["equal"] is not None:
        typer.echo("both say the same" if found["equal"] else "THEY DIFFER")


def state_of(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Whether ClickHouse can be asked here, what it holds, and what was asked of it, by whom and why."""
    found = call(state, "console", "analytics.state")
    if as_json:
        print_json(found)
        return
    typer.echo("ClickHouse is " + ("running" if found["running"] else "installed" if found["installed"] else "not installed (`make analytics`)"))  # fmt: skip
    told = f"{found['rows']} rows, told {found['synced_at']}" if found["synced_at"] else "nothing was told yet"
    typer.echo(f"its copy: {told}; {found['waiting']} pieces wait" + (f"; {found['fault']}" if found["fault"] else ""))
    for run in found["asked"]:
        typer.echo(
            f"{run['at'][:19]}  {run['milliseconds']:.0f} ms  {printable(run['by_name'])}: {printable(run['reason'])}"
        )


def sync(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Tell ClickHouse now what changed."""
    _done(call(state, "console", "analytics.sync", patience=600), as_json=as_json)


def rebuild(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Tell ClickHouse everything again, from nothing."""
    _done(call(state, "console", "analytics.rebuild", patience=600), as_json=as_json)


def _done(found: dict[str, Any], *, as_json: bool) -> None:
    print_json(found) if as_json else typer.echo(f"ClickHouse holds {found['rows']} rows")


def _cost(cost: dict[str, Any]) -> str:
    if cost["rows_read"] is None or cost["milliseconds"] is None:
        return f"{cost['engine']}: unavailable. {cost['why']}"
    if cost["measured"]:
        return f"{cost['engine']} read {cost['rows_read']} rows in {cost['milliseconds']} ms"
    return f"{cost['engine']} would have read about {cost['rows_read']} rows in about {cost['milliseconds']} ms. {cost['why']}".strip()
