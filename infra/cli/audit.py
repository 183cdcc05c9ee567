"""`schleuse audit`: recompute the call audit and compare it with all that bears witness to it; search it; write it out."""

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, Json, State, counted, print_json, printable
from infra.observe import call_audit
from shared.errors import Refused
from shared.operator import call

PATIENCE = 3600.0
PIECE = 5000
FORMS = ("csv", "json", "jsonl")
COLUMNS = (
    "seq", "at", "call_id", "asker", "on_behalf_of", "connector", "operation", "target", "outcome", "status", "secret", "detail",
    "duration_ms", "bytes_out", "bytes_in", "tokens_in", "tokens_out", "trace_id", "entry_id", "hash",
)  # fmt: skip

Text = Annotated[str, typer.Argument(help="Text that stands in any field; %, _ and the like mean themselves.", metavar="[TEXT]")]  # fmt: skip
Connector = Annotated[str, typer.Option("--connector", help="Exactly this connector.")]
Asker = Annotated[str, typer.Option("--asker", help="Who asked: agent, console, site, operator, connectors.")]
For = Annotated[str, typer.Option("--for", help="On whose behalf, as user:7.", metavar="OWNER")]
Operation = Annotated[str, typer.Option("--operation", help="Exactly this operation.")]
Target = Annotated[str, typer.Option("--target", help="How the target begins.")]
Status = Annotated[str, typer.Option("--status", help="Exactly this status.")]
Outcome = Annotated[str, typer.Option("--result", help="bad (refused, failed or lost), or one outcome.")]
Call = Annotated[str, typer.Option("--call", help="One call's id: its beginning and its end.", metavar="ID")]
Since = Annotated[str, typer.Option("--since", help="2026-11-29, or a time with its offset.", metavar="TIME")]
Until = Annotated[str, typer.Option("--until", help="Before that time; a day is taken whole.", metavar="TIME")]


def register(app: typer.Typer) -> None:
    audit = typer.Typer(help="The record of every call to a third party: verify, search, export.", no_args_is_help=True)
    audit.command("verify")(verify)
    audit.command("search")(search)
    audit.command("export")(export)
    app.add_typer(audit, name="audit")


def verify(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Recompute every entry from its content; compare with the checkpoints, the lock and the console. Exit 1 when anything contradicts."""
    found = call_audit.verify(lambda service, verb, args: call(state, service, verb, args, PATIENCE))
    if as_json:
        print_json(found)
    else:
        _say(found)
    if not found["ok"]:
        raise typer.Exit(FAILED)


def _say(found: dict[str, Any]) -> None:
    for each in found["findings"]:
        typer.echo(f"entry {each['entry']:,}: {each['place']}: {printable(each['reason'])}")
    for line in found["unasked"]:
        typer.echo(printable(line))
    own, lock = found["places"]["connectors"], found["places"].get("bridge")
    kept = f"; the lock has {lock['checkpoints']:,}" if lock else ""
    signed = f"{counted(own['count'], 'checkpoint')}, {own['witnessed']:,} countersigned{kept}"
    if found["first_bad"] is None:
        state = "unbroken" if found["ok"] else "unbroken as far as could be seen"
        typer.echo(f"{state}: {found['entries']:,} entries recomputed in {found['seconds']:.1f} s; {signed}")
    else:
        typer.echo(f"broken: the first bad entry is {found['first_bad']:,}")


def search(
    text: Text = "",
    connector: Connector = "",
    asker: Asker = "",
    owner: For = "",
    operation: Operation = "",
    target: Target = "",
    status: Status = "",
    result: Outcome = "",
    call_id: Call = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many, newest first.", min=1, max=PIECE)] = 50,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Find entries, newest first."""
    asked = _asked(text, connector, asker, owner, operation, target, status, result, call_id, since, until)
    found = call(state, "connectors", "audit.search", asked | {"limit": limit})
    if as_json:
        print_json(found)
        return
    for each in found["entries"]:
        typer.echo(printable(_line(each)))
    more = "more than " if found["more"] else ""
    typer.echo(f"{more}{found['found']:,} found")


def _line(each: dict[str, Any]) -> str:
    who = each["asker"] + (f" for {each['on_behalf_of']}" if each["on_behalf_of"] else "")
    spent = "" if each["duration_ms"] is None else f"  {each['duration_ms']} ms"
    how = each["outcome"] + (f" {each['status']}" if each["status"] and each["outcome"] != "begun" else "")
    what = f"{each['connector']}.{each['operation']}" if each["connector"] else each["operation"]
    return f"{each['seq']:>8}  {each['at'][:19].replace('T', ' ')}  {who:<10} {what:<24} {each['target'][:60]:<40} {how}{spent}"


def export(
    out: Annotated[str, typer.Argument(help="File to write, - for standard output.", metavar="FILE")],
    text: Text = "",
    connector: Connector = "",
    asker: Asker = "",
    owner: For = "",
    operation: Operation = "",
    target: Target = "",
    status: Status = "",
    result: Outcome = "",
    call_id: Call = "",
    since: Since = "",
    until: Until = "",
    form: Annotated[str, typer.Option("--format", help="csv, json or jsonl; by the file's name when not given.")] = "",
    state: State = DEFAULT_STATE,
) -> None:
    """Write out all entries that fit, newest first; the search is the same as that of `search`."""
    form = form or (Path(out).suffix.removeprefix(".") if out != "-" else "csv")
    if form not in FORMS:
        raise Refused(f"the format is one of {', '.join(FORMS)}; this is {form!r}. Say --format")
    asked = _asked(text, connector, asker, owner, operation, target, status, result, call_id, since, until)
    with _opened(out) as stream:
        count = _write(stream, form, _all(state, asked))
    if out != "-":
        typer.echo(f"{count:,} entries in {out}")


def _asked(*given: str) -> dict[str, Any]:
    names = ("q", "connector", "asker", "on_behalf_of", "operation", "target", "status", "outcome", "call_id", "since", "until")  # fmt: skip
    return {name: value for name, value in zip(names, given, strict=True) if value}


def _all(state: Path, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    before: int | None = None
    while True:
        page = call(state, "connectors", "audit.search", asked | {"limit": PIECE, "before": before})
        yield from page["entries"]
        if page["next"] is None:
            return
        before = page["next"]


@contextmanager
def _opened(out: str) -> Iterator[TextIO]:
    """A file appears whole or not at all."""
    if out == "-":
        yield sys.stdout
        return
    made = Path(out).with_name(f".{Path(out).name}.part")
    try:
        with made.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        made.replace(out)
    finally:
        made.unlink(missing_ok=True)


def _write(stream: TextIO, form: str, entries: Iterator[dict[str, Any]]) -> int:
    count = 0
    writer = csv.writer(stream)
    stream.write("[" if form == "json" else "")
    if form == "csv":
        writer.writerow(COLUMNS)
    for count, each in enumerate(entries, start=1):
        if form == "csv":
            writer.writerow([_harmless(each.get(name)) for name in COLUMNS])
        else:
            stream.write((",\n" if form == "json" and count > 1 else "") + json.dumps(each, ensure_ascii=False))
            stream.write("\n" if form == "jsonl" else "")
    stream.write("]\n" if form == "json" else "")
    return count


def _harmless(value: Any) -> Any:
    """A cell that a spreadsheet would take for a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
