"""`schleuse chat`: one turn with the agent, as a person (by a token of some minutes, made by the operator) or as a guest."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx2
import typer

from infra.cli.access import make_access
from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, print_json, printable
from shared.errors import Refused, Transient, from_wire
from shared.operator import call
from shared.settings import Settings

Text = Annotated[str, typer.Argument(help="What to say; - reads it from stdin.", metavar="TEXT")]
As = Annotated[str, typer.Option("--as", help="Whom to speak as: what they sign in with. It is recorded as the operator's doing.", metavar="USER")]  # fmt: skip
Guest = Annotated[
    bool, typer.Option("--guest", help="Speak as a guest, of whom nothing is kept. So it is without --as.")
]
Conversation = Annotated[str, typer.Option("--conversation", help="Go on with this one of theirs.", metavar="ID")]
LIFE = 900.0
"""Seconds of the token: longer than any turn. It is taken back when the turn is over."""
SILENCE = 60.0
"""Seconds without a sign of life; the agent gives one every fifteen."""
LAST = ("done", "stopped", "failed")


def register(app: typer.Typer) -> None:
    app.command("chat")(chat)


def chat(
    text: Text,
    as_user: As = "",
    guest: Guest = False,
    conversation: Conversation = "",
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Say something to the agent and print its answer as it comes. Hanging up (Ctrl-C) stops the turn."""
    if as_user and guest:
        raise Refused("--as and --guest exclude one another")
    if conversation and not as_user:
        raise Refused("a guest has no conversation that could go on; say whose it is with --as")
    said = sys.stdin.read() if text == "-" else text
    if not as_user:
        _finish(_turn(state, said, "", "", live=not as_json), as_json)
        return
    made = make_access(state, "token", as_user, "schleuse chat", seconds=LIFE)
    try:
        found = _turn(state, said, conversation, made["key"], live=not as_json)
    finally:
        call(state, "console", "access.revoke", {"id": made["id"]})
    _finish(found, as_json)


def _turn(state: Path, text: str, conversation: str, key: str, *, live: bool) -> dict[str, Any]:
    """What became of it; with `live`, the reply is printed while it comes."""
    settings = Settings.load("agent", state)
    headers = {"Host": settings.url.split("//", 1)[1], "Accept": "text/event-stream"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    body = {"text": text, "conversation_id": conversation or None}
    where = f"http://{settings.host}:{settings.port}/api/v1/turns"  # not by way of a proxy: the key is the operator's
    try:
        with (
            httpx2.Client(timeout=SILENCE) as client,
            client.stream("POST", where, json=body, headers=headers) as answer,
        ):
            if answer.status_code != 200:
                raise _refused(answer.status_code, answer.read())
            return _follow(answer.iter_lines(), live=live)
    except httpx2.TransportError as error:
        raise Transient(f"the workspace at {settings.url} does not answer ({type(error).__name__}); see `schleuse status`", code="not_running") from None  # fmt: skip


def _follow(lines: Iterator[str], *, live: bool) -> dict[str, Any]:
    ref: dict[str, Any] = {}
    for kind, data in _events(lines):
        if kind == "accepted":
            ref = {"turn_id": data["turn_id"], "conversation_id": data["conversation_id"]}
        elif kind == "text" and live:
            typer.echo(printable(data["text"]), nl=False)
        elif kind == "tools" and live:
            for each in data["calls"]:
                typer.echo(printable(f"[{each['tool']}: {each['state']}] {each['shown']}".replace("\n", " ")), err=True)
        elif kind in LAST:
            names = ("reply", "tools", "cost")
            return {name: data[name] for name in names} | ref | {"outcome": kind, "error": data["error"]}
    raise Transient("the agent hung up before the answer was whole; the turn is stopped")


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def _refused(status: int, body: bytes) -> Exception:
    try:
        told = json.loads(body)
        return from_wire(status, str(told["code"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return Transient(f"the workspace answered {status} and nothing that could be read")


def _finish(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo()
        if found["cost"] not in ("0", None):
            typer.echo(f"cost ${found['cost']}", err=True)
    if found["outcome"] != "done":
        complain(found["error"] or f"the turn was {found['outcome']}")
        raise typer.Exit(FAILED)
