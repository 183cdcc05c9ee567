"""`schleuse records`: tables of apps, files in and out (recorded as operator)."""

import json
import sys
from base64 import b64encode
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, complain, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

PIECE = 2 * 1024 * 1024
SHOWN = 20
"""Bad lines printed; --json has the first thousand."""
App = Annotated[str, typer.Argument(help="The app's slug, as `records list` shows it.", metavar="APP")]
Table = Annotated[str, typer.Argument(metavar="TABLE")]
File = Annotated[Path, typer.Argument(help="A CSV file, or - for stdin.", metavar="FILE")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen and which lines do not fit; change nothing.")
]
Encoding = Annotated[
    str, typer.Option("--encoding", help="utf-8, utf-16 or windows-1252; found out by default.", metavar="NAME")
]
Delimiter = Annotated[
    str, typer.Option("--delimiter", help="comma, semicolon, tab or bar; found out by default.", metavar="NAME")
]
Null = Annotated[str, typer.Option("--null", help="The word that stands for no value.", metavar="WORD")]
Skip = Annotated[
    list[str] | None, typer.Option("--skip", help="A column of the file that is left out.", metavar="COLUMN")
]
SkipUnknown = Annotated[bool, typer.Option("--skip-unknown", help="Leave out columns that the table does not have.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="A row whose key is there already is changed; by default that line is bad.")
]
LeaveBad = Annotated[bool, typer.Option("--leave-bad", help="Import the good lines without the bad ones.")]
Format = Annotated[str, typer.Option("--format", help="csv or json.", metavar="FORMAT")]
Where = Annotated[
    list[str] | None, typer.Option("--where", help="COLUMN:OP:VALUE, such as country:is:Spain.", metavar="FILTER")
]
Out = Annotated[Path | None, typer.Option("--out", help="A file; by default stdout.", metavar="FILE")]


def register(app: typer.Typer) -> None:
    records = typer.Typer(help="Records of apps: tables, import, export.", no_args_is_help=True)
    records.command("list")(list_tables)
    records.command("import")(import_file)
    records.command("export")(export)
    app.add_typer(records, name="records")


def list_tables(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Every table of every app, with how many rows it has."""
    found = call(state, "console", "records.list", {})
    if as_json:
        print_json(found)
        return
    for each in found["tables"]:
        typer.echo(
            f"{each['app']}  {each['table']}  {counted(each['rows'], 'row')}, {counted(each['columns'], 'column')}"
        )
    typer.echo(counted(len(found["tables"]), "table"))


def import_file(
    app: App, table: Table, file: File, dry_run: DryRun = False, encoding: Encoding = "", delimiter: Delimiter = "", null: Null = "NULL",
    skip: Skip = None, skip_unknown: SkipUnknown = False, replace: Replace = False, leave_bad: LeaveBad = False,
    state: State = DEFAULT_STATE, as_json: Json = False,
) -> None:  # fmt: skip
    """A CSV file becomes records: all of its rows, or none. Exit code 1 when lines do not fit and nothing was kept."""
    raw = sys.stdin.buffer.read() if str(file) == "-" else _read(file)
    options = {
        "encoding": encoding, "delimiter": delimiter, "null": null, "skip": skip or [],
        "skip_unknown": skip_unknown, "replace": replace, "leave_bad": leave_bad,
    }  # fmt: skip
    begun = call(state, "console", "records.begin", {"app": app, "table": table, "file": file.name, "options": options})
    for number, start in enumerate(range(0, max(len(raw), 1), PIECE)):
        piece = b64encode(raw[start : start + PIECE]).decode()
        call(state, "console", "records.piece", {"import_id": begun["import_id"], "number": number, "piece": piece})
    report = call(state, "console", "records.run", {"import_id": begun["import_id"], "dry_run": dry_run})
    kept = not dry_run and (leave_bad or not report["bad_count"])
    if as_json:
        print_json(report | {"kept": kept})
    else:
        _tell(report, dry_run=dry_run, kept=kept)
    if report["bad_count"] and not kept:
        raise typer.Exit(FAILED)


def _read(file: Path) -> bytes:
    if not file.is_file():
        raise Refused(f"there is no file {file}", code="file")
    return file.read_bytes()


def _tell(report: dict[str, Any], *, dry_run: bool, kept: bool) -> None:
    for each in report["bad"][:SHOWN]:
        typer.echo(printable(f"line {each['line']}: {each['words']}"))
    if report["bad_count"] > SHOWN:
        typer.echo(f"… and {report['bad_count'] - SHOWN} more; --json lists the first thousand")
    how = f"{report['encoding']}, {report['delimiter']}"
    left = f", left out: {', '.join(report['left_out'])}" if report["left_out"] else ""
    bad = counted(report["bad_count"], "bad line")
    if report["mended_count"]:
        some = ", ".join(str(each) for each in report["mended"][:SHOWN]) + (
            ", …" if report["mended_count"] > SHOWN else ""
        )
        typer.echo(
            f"{counted(report['mended_count'], 'line')} with a separator inside a value that is not quoted, taken as part of it: {some}"
        )
    if dry_run:
        typer.echo(
            printable(f"{report['rows']} rows read ({how}{left}): {report['added']} fit, {bad}; nothing was changed")
        )
    elif kept:
        changed = f", {report['changed']} changed" if report["changed"] else ""
        typer.echo(printable(f"{report['added']} added{changed}, {bad} ({how}{left})"))
    else:
        complain(f"{bad}; nothing was kept. Put them right, or leave them out with --leave-bad.")


def export(
    app: App, table: Table, how: Format = "csv", where: Where = None, out: Out = None, state: State = DEFAULT_STATE
) -> None:
    """A table as CSV (no text in it is taken for a formula) or JSON lines, portion by portion."""
    if how not in {"csv", "json"}:
        raise Refused("the format is csv or json", code="format")
    if out is None:
        _write(sys.stdout.buffer, app, table, how, where or [], state)
        return
    with out.open("wb") as file:
        _write(file, app, table, how, where or [], state)


def _write(file: Any, app: str, table: str, how: str, where: list[str], state: Path) -> None:
    after = ""
    while True:
        args = {"app": app, "table": table, "format": how, "filters": where, "after": after}
        found = call(state, "console", "records.export", args)
        file.write(found["text"].encode() if how == "csv" else _json_lines(found["rows"]))
        after = found["after"]
        if not after:
            return


def _json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows).encode()
