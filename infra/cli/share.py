"""`schleuse share`: what staff let the agent read (recorded as operator). It reads nothing else of the console."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Records = Annotated[list[str] | None, typer.Argument(help="As `share list --feedback` shows them.", metavar="RECORD…")]
Record = Annotated[str, typer.Argument(help="As `share list` shows it.", metavar="RECORD")]
Item = Annotated[str, typer.Argument(help="KIND/LANG/PATH, or an item's id.", metavar="ITEM")]
File = Annotated[str, typer.Argument(help="A text file, or - for stdin.", metavar="FILE")]
Title = Annotated[str, typer.Option("--title", help="What it is called; by default the file's name.", metavar="TITLE")]
Whose = Annotated[str, typer.Option("--whose", help="Whose words it is: staff, visitor or outside.", metavar="WHOSE")]
Feedback = Annotated[bool, typer.Option("--feedback", help="What visitors wrote and is not shared.")]
All = Annotated[bool, typer.Option("--all", help="The 100 newest that are not shared.")]


def register(app: typer.Typer) -> None:
    share = typer.Typer(help="What the agent may read: list, share, take back.", no_args_is_help=True)
    share.command("list")(list_records)
    share.command("feedback")(feedback)
    share.command("item")(item)
    share.command("text")(text)
    share.command("take-back")(take_back)
    app.add_typer(share, name="share")


def list_records(feedback: Feedback = False, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What is shared with the agent now, or what visitors wrote that could be."""
    found = call(state, "console", "sharing.list", {"feedback": feedback})
    if as_json:
        print_json(found)
        return
    for each in found["records"]:
        said = " ".join(each["text"].split())[:60]
        typer.echo(printable(f"{each['record_id']}  {each['source']:<7}  {each['title'][:60]}  “{said}”"))
    typer.echo(counted(len(found["records"]), "record"))


def feedback(
    records: Records = None, everything: All = False, state: State = DEFAULT_STATE, as_json: Json = False
) -> None:
    """Let the agent read what visitors wrote."""
    found = call(state, "console", "sharing.feedback", {"records": records or [], "all": everything})
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{counted(found['shared'], 'message')} shared")


def item(name: Item, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Let the agent read an item's newest revision, as it is now."""
    _tell(call(state, "console", "sharing.item", {"item": name}), as_json)


def text(file: File, title: Title = "", whose: Whose = "staff", state: State = DEFAULT_STATE, as_json: Json = False) -> None:  # fmt: skip
    """Let the agent read a text."""
    given = {"title": title or Path(file).stem, "text": _read(file), "source": whose}
    _tell(call(state, "console", "sharing.text", given), as_json)


def take_back(record: Record, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """The agent may read it no more; its text is gone there within a second."""
    found = call(state, "console", "sharing.take_back", {"record": record})
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['taken_back']} is taken back")


def _read(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode()
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}", code="file") from None
    except UnicodeDecodeError:
        raise Refused(f"{file} is no UTF-8 text", code="file") from None


def _tell(found: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['record_id']} is shared with the agent")
