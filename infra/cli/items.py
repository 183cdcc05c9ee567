"""`schleuse items`: what waits at the lock, decided by the person at this machine (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Item = Annotated[str, typer.Argument(help="Item id, or kind/lang/path.", metavar="ITEM")]
Reason = Annotated[str, typer.Option("--reason", help="Why; needed to reject or to ask for changes.")]
WAIT = 180.0
TIMES = {"publish_at": "public at", "expire_at": "until"}


def register(app: typer.Typer) -> None:
    items = typer.Typer(help="List items, decide on them, undo that, withdraw them.", no_args_is_help=True)
    items.command("list")(list_items)
    items.command("decide")(decide)
    items.command("withdraw")(withdraw)
    items.command("undo")(undo)
    app.add_typer(items, name="items")


def list_items(
    status: Annotated[str, typer.Option("--status", help="open, all, or one state, such as submitted.")] = "all",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """List items, oldest first, all of them."""
    found = call(state, "console", "items.list", {"status": status})
    if as_json:
        print_json(found)
        return
    for item in found["items"]:
        place = f"{item['kind']}/{item['lang']}/{item['path']}"
        shown = printable(f"{place}  {item['title']}").replace("\n", " ")
        typer.echo(f"{item['state']:<18} r{item['revision']:<3} {item['item_id']}  {shown}")
    typer.echo(counted(len(found["items"]), "item"))


def decide(
    verdict: Annotated[str, typer.Option("--verdict", help="approve, reject or request_changes.")],
    items: Annotated[list[str] | None, typer.Argument(help="Item ids, or kind/lang/path.", metavar="[ITEM...]")] = None,
    all_pending: Annotated[
        bool, typer.Option("--all-pending", help="Everything that waits and is not stopped.")
    ] = False,
    reason: Reason = "",
    at: Annotated[
        str, typer.Option("--at", help="Publish then: 2026-12-01T08:00 (UTC) or with an offset.", metavar="TIME")
    ] = "",
    until: Annotated[str, typer.Option("--until", help="Take it down then; written as for --at.", metavar="TIME")] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Decide on items; returns when the lock has answered. Exit code 1 when something was refused.

    --all-pending includes items with findings to check, since you asked for all; never those that the lock stopped.
    With --at an approval waits for its time; until then `items withdraw` takes it back, and another --at changes it. With --until it
    is taken down by itself. For ten minutes `items undo --last` takes back what one call decided.
    """
    if bool(items) == all_pending:
        raise Refused("name items, or say --all-pending")
    which = {"items": items or [], "all_pending": all_pending}
    word = {"verdict": verdict, "reason": reason, "at": at, "until": until}
    found = call(state, "console", "items.decide", word | which, WAIT)
    shown = [f"; {word} {found[name]}" for name, word in TIMES.items() if name in found and found["decided"]]
    _finish(found, as_json, f"{found['decided']} decided{''.join(shown)}")


def withdraw(item: Item, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Take back what is public, and what waits for its time. Exit code 1 when the lock refused."""
    found = call(state, "console", "items.withdraw", {"item": item, "reason": reason}, WAIT)
    _finish(found, as_json, f"{found['withdrawn']} withdrawn")


def undo(
    items: Annotated[list[str] | None, typer.Argument(help="Item ids, or kind/lang/path.", metavar="[ITEM...]")] = None,
    last: Annotated[bool, typer.Option("--last", help="All that the last `items decide` decided.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the history.")] = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Take decisions of the last ten minutes back: the items wait again, and what was public is withdrawn.

    Of each item its newest decision, whoever made it. Exit code 1 when something was refused: too late, or changed since.
    """
    if bool(items) == last:
        raise Refused("name items, or say --last")
    found = call(state, "console", "items.undo", {"items": items or [], "last": last, "reason": reason}, WAIT)
    _finish(found, as_json, f"{found['undone']} undone")


def _finish(found: dict[str, Any], as_json: bool, done: str) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(done)
        for each in found["refused"]:
            complain(f"refused {each['item_id']}: {each['reason']}")
    raise typer.Exit(FAILED if found["refused"] else 0)
