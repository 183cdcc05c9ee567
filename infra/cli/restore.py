"""`schleuse restore`: a backup into a fresh state directory."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from infra.backup.restore import check
from infra.backup.restore import restore as restoring
from infra.cli.bytes_done import BytesDone
from infra.cli.options import Json, print_json


def register(app: typer.Typer) -> None:
    app.command()(restore)


def restore(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `schleuse backup DIR` made.")],
    state: Annotated[Path, typer.Option("--state", help="A folder that is empty or does not exist.", metavar="NEW")],
    keys: Annotated[Path, typer.Option("--keys", help="What `schleuse backup keys FILE` made.", metavar="FILE")],
    identity: Annotated[Path, typer.Option("--identity", help="File with the age identity.", metavar="FILE")],
    port_base: Annotated[int | None, typer.Option("--port-base", help="Other ports than before.")] = None,
    cluster: Annotated[bool | None, typer.Option("--cluster/--no-cluster", help="Other than it was.")] = None,
    as_json: Json = False,
) -> None:
    """Check everything, then restore into NEW. `schleuse up --state NEW` starts it.

    What was withdrawn since the backup is withdrawn again. Where that cannot be known for sure, the site stays shut until an owner opens it.
    """
    began = time.monotonic()
    with BytesDone(quiet=as_json) as tell:
        checked = check(directory, keys, identity, tell)
        found = restoring(checked, state, port_base, tell, cluster=cluster)
    found["seconds"] = round(time.monotonic() - began, 1)
    print_json(found) if as_json else _show(found)


def _show(found: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"Restored {escape(found['state'])} as of {_time(found['from'])} in {found['seconds']} s.")
    if found["withdrawn_again"]:
        out.print(f"Withdrawn since, and withdrawn again: {len(found['withdrawn_again'])}")
    _show_missing(out, found["missing"])
    if found["followed_until"] and not found["because"]:
        out.print(f"Withdrawals are known until {_time(found['followed_until'])}; what was withdrawn later must be withdrawn again.")  # fmt: skip
    if found["because"]:
        out.print(f"[yellow]The site is off[/]: {escape(found['because'])}.")
        out.print(
            "Find out what was withdrawn since, withdraw it, and let an owner set the site's mode in the console."
        )
    out.print(f"Start it with: schleuse up --state {escape(found['state'])}")


def _show_missing(out: Console, missing: list[dict[str, Any]]) -> None:
    """What was published since is nowhere but at the lock that is gone."""
    if missing:
        out.print(f"Published since then, and not in this backup: {len(missing)}")
    for each in missing:
        out.print(f"  {escape(_place(each))}, revision {each['revision']}, {_time(each['at'])}")
    if any(each["revision"] > 1 for each in missing):
        out.print("  [dim]What they replaced is public again in its older form until they are handed in again.[/]")


def _place(each: dict[str, Any]) -> str:
    return f"{each['kind']}/{each['lang']}/{each['path']}"


def _time(text: str) -> str:
    return f"{text[:16].replace('T', ' ')} UTC"
