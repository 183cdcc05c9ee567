"""`schleuse provenance ADDRESS`: where a public item comes from, and what came back."""

from datetime import datetime
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.operator import call


def register(app: typer.Typer) -> None:
    app.command()(provenance)


def provenance(
    address: Annotated[str, typer.Argument(help="What the browser shows, kind/lang/path, or an item's id.")],
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Who proposed it and in which conversation, who let it out, its receipt, its way with times, views and votes since."""
    found = call(state, "console", "provenance.show", {"address": address})
    if as_json:
        print_json(found)
        return
    typer.echo(
        f"{found['kind']}/{found['lang']}/{printable(found['path'])}  revision {found['revision']}, {found['state']}"
    )
    where = f", conversation {found['conversation_id']}, turn {found['turn_id']}" if found["conversation_id"] else ""
    typer.echo(f"proposed by  {printable(found['proposed_by'])} ({found['via']}){where}")
    _show_receipt(found["receipt"])
    for hop in found["stations"]:
        gap = "" if hop["gap"] is None else f"+{hop['gap']:.1f} ms"
        typer.echo(
            f"{datetime.fromisoformat(hop['at']):%H:%M:%S.%f}  {gap:>14}  {hop['where']:<26} {printable(hop['title'])}"
        )
    since = ", ".join(f"{count} {kind}" for kind, count in found["since"].items()) or "nothing yet"
    typer.echo(f"since then   {since}; helpful: {found['votes']['up']} yes, {found['votes']['down']} no")


def _show_receipt(receipt: dict[str, Any]) -> None:
    typer.echo(f"reviewed by  {printable(receipt['reviewed_by'] or 'nobody yet')}")
    typer.echo(f"receipt      {receipt['content_hash']}, statement {receipt['statement_hash']}, key {receipt['key_id']}, gate's log no. {receipt['gate_seq']}")  # fmt: skip
