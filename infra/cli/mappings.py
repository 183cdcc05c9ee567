"""`schleuse mappings`: from records of apps to pages that wait in the queue (recorded as operator)."""

from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Which = Annotated[str, typer.Argument(help="Its name, or its id as `mappings list` shows it.", metavar="MAPPING")]


def register(app: typer.Typer) -> None:
    mappings = typer.Typer(help="From records of apps to pages: list, try, hand in.", no_args_is_help=True)
    mappings.command("list")(list_mappings)
    mappings.command("show")(show)
    mappings.command("submit")(submit)
    app.add_typer(mappings, name="mappings")


def list_mappings(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """All mappings. They are made in the console, under Mappings."""
    found = call(state, "console", "mappings.list", {})
    if as_json:
        print_json(found)
        return
    for each in found["mappings"]:
        place = f"{each['kind']}/{each['lang']}/{each['path']}"
        typer.echo(printable(f"{each['mapping_id']}  {each['name']}: {each['app']}.{each['table']} → {place}"))
    typer.echo(counted(len(found["mappings"]), "mapping"))


def show(mapping: Which, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What a mapping would make of the rows that there are now, as Markdown. Nothing is handed in."""
    found = call(state, "console", "mappings.preview", {"mapping_id": _find(state, mapping)})
    if as_json:
        print_json(found)
        return
    for each in found["pages"]:
        typer.echo(f"{each['path']}: {counted(each['rows'], 'row')}\n{printable(each['markdown'])}\n")


def submit(mapping: Which, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Hand what a mapping makes to the lock; it waits in the queue until a person approves it."""
    found = call(state, "console", "mappings.submit", {"mapping_id": _find(state, mapping)})
    if as_json:
        print_json(found)
        return
    for each in found["items"]:
        typer.echo(printable(f"{each['path']}: {each['state']}"))


def _find(state: Any, mapping: str) -> str:
    listed: list[dict[str, Any]] = call(state, "console", "mappings.list", {})["mappings"]
    meant: list[str] = [each["mapping_id"] for each in listed if mapping in (each["name"], each["mapping_id"])]
    if len(meant) != 1:
        raise Refused(f"{len(meant) or 'no'} mappings are called {mapping}; `schleuse mappings list` shows them")
    return meant[0]
