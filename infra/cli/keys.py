"""`schleuse keys`: which key signs decisions; replace it, or take one out of force (recorded as operator)."""

from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json
from shared.operator import call

Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the lock's record.")]
KeyId = Annotated[str, typer.Argument(help="Key id, as `keys list` shows it.", metavar="KEY_ID")]
WAIT = 180.0


def register(app: typer.Typer) -> None:
    keys = typer.Typer(help="List decision keys, rotate, revoke.", no_args_is_help=True)
    keys.command("list")(list_keys)
    keys.command("rotate")(rotate)
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="keys")


def list_keys(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """List the console's decision keys, oldest first."""
    found = call(state, "console", "keys.list")
    if as_json:
        print_json(found)
        return
    for each in found["keys"]:
        typer.echo(f"{each['key_id']}  {each['state']:<9} {each['at'][:16].replace('T', ' ')}  {each['refusal'] or ''}")


def rotate(
    revoke_old: Annotated[bool, typer.Option("--revoke-old", help="Also take the old key out of force.")] = False,
    reason: Reason = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Sign with a new key from now on; returns when the lock has recorded it. What is published stays."""
    found = call(state, "console", "keys.rotate", {"revoke_old": revoke_old, "reason": reason}, WAIT)
    if as_json:
        print_json(found)
    else:
        old = found["old"]
        typer.echo(f"{found['signing']} signs now; {old['key_id']} is {old['state']}")


def revoke(key_id: KeyId, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Take a key that no longer signs out of force, for good. What it published stays."""
    found = call(state, "console", "keys.revoke", {"key_id": key_id, "reason": reason}, WAIT)
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['revoked']} is revoked")
