"""`schleuse call`: have a connector do something, asked as the console; and look into the console's own part of the call audit."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, print_json, printable
from shared.errors import Refused
from shared.operator import call as ask

Connector = Annotated[str, typer.Argument(help="As `connectors list` shows it.", metavar="CONNECTOR")]
What = Annotated[
    str,
    typer.Argument(
        help="An operation; or a URL or a path, for a tunnelled HTTP exchange with a connector that speaks HTTP.",
        metavar="OPERATION|URL",
    ),
]
Arguments = Annotated[str, typer.Argument(help="The operation's arguments as a JSON object; - reads it from stdin.")]
Secret = Annotated[str, typer.Option("--secret", help="The name of a secret, where several would do.")]
Wait = Annotated[float, typer.Option("--wait", help="Seconds to wait where a person must decide on a card first.")]
Say = Annotated[str, typer.Option("--say", help="Your own words for that card.")]
Method = Annotated[str, typer.Option("--method", "-X", help="Of an exchange.")]
Body = Annotated[
    Path | None, typer.Option("--body", help="A file to send with an exchange.", exists=True, dir_okay=False)
]
Kind = Annotated[str, typer.Option("--type", help="Content type of that file.")]


def register(app: typer.Typer) -> None:
    app.command("call")(call)


def call(
    connector: Connector,
    what: What,
    arguments: Arguments = "{}",
    secret: Secret = "",
    wait: Wait = 0,
    say: Say = "",
    method: Method = "GET",
    body: Body = None,
    content_type: Kind = "application/octet-stream",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Have a connector do something, asked as the console. What people have not granted yet waits on a card; every call is in the audit."""
    manner = {"connector": connector, "secret": secret, "wait_s": wait, "quoted": say}
    patience = wait + 120
    if "/" not in what:
        found = ask(
            state, "console", "ask.call", manner | {"operation": what, "arguments": _object(arguments)}, patience
        )
        print_json(found["result"])
        return
    url = what if "://" in what else f"https://{connector}.connector/{what.lstrip('/')}"
    exchange: dict[str, Any] = {"method": method, "url": url}
    if body is not None:
        exchange |= {"body": _text(body), "headers": {"content-type": content_type}}
    found = ask(state, "console", "ask.http", manner | exchange, patience)
    if as_json:
        print_json(found)
        return
    typer.echo(f"{found['status']}  call {found['call_id']}", err=True)
    typer.echo(printable(found["text"]) if "text" in found else found["base64"])


def _object(text: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise Refused(f"the arguments are no JSON: {error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        raise Refused(f"{path} is not text; other programs send such bodies through a transport of their own") from None
