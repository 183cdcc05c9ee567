"""`schleuse signals`: send an access log as views through the site's HTTP door, and see what the console counts."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import httpx2
import typer

from infra.cli.access_log import PageView, read_views
from infra.cli.options import DEFAULT_STATE, Json, State, complain, print_json
from shared.errors import Refused, Transient
from shared.ids import fresh_id
from shared.operator import call
from shared.settings import Settings

PORTION = 500
PER_EVENT = 100
PATIENCE = 300.0
"""Seconds for which an unavailable site is tried again."""
AGAIN = (408, 425, 429, 500, 502, 503, 504)


def register(app: typer.Typer) -> None:
    signals = typer.Typer(help="Load an access log; show what was counted.", no_args_is_help=True)
    signals.command("load")(load)
    signals.command("totals")(totals)
    app.add_typer(signals, name="signals")


def load(
    file: Annotated[Path, typer.Argument(help="Access log in combined format.", metavar="FILE")],
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Send the page views of an access log (rule 30a). Lines that are no page views are skipped."""
    if not file.is_file():
        raise Refused(f"{file} does not exist")
    found = send_log(file, Settings.load("site", state))
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{found['lines']} lines: {found['sent']} page views sent, {found['skipped']} skipped")


def totals(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """What the console has counted."""
    found = call(state, "console", "signals.totals")
    if as_json:
        print_json(found)
    else:
        for kind, count in found.items():
            typer.echo(f"{kind:<10} {count}")


def send_log(file: Path, settings: Settings) -> dict[str, int]:
    """{"lines", "sent", "skipped"}. Every chunk is sent until the site has taken it, for at most 5 minutes."""
    token = (settings.state / "keys" / "ingest.token").read_text().strip()
    run, lines, sent = fresh_id(), 0, 0
    where = f"http://{settings.host}:{settings.port}"  # a proxy in front keeps this door shut
    headers = {"Authorization": f"Bearer {token}", "Host": settings.url.split("//", 1)[1]}
    with (
        httpx2.Client(base_url=where, headers=headers, timeout=30) as site,
        file.open(encoding="utf-8", errors="replace", newline="\n") as text,
    ):
        for chunk, read in _chunks(read_views(text)):
            lines += read
            sent += len(chunk)
            if chunk:
                _send(site, chunk, run)
    return {"lines": lines, "sent": sent, "skipped": lines - sent}


def _chunks(views: Iterator[PageView | None]) -> Iterator[tuple[list[PageView], int]]:
    """(page views, lines read for them)."""
    chunk: list[PageView] = []
    read = 0
    for view in views:
        read += 1
        if view is not None:
            chunk.append(view)
        if len(chunk) == PORTION:
            yield chunk, read
            chunk, read = [], 0
    yield chunk, read


def _send(site: httpx2.Client, chunk: list[PageView], run: UUID) -> None:
    body: dict[str, Any] = {"batch": [view.wire(run) for view in chunk], "per_event": PER_EVENT}
    deadline, wait, told = time.monotonic() + PATIENCE, 0.2, False
    while True:
        trouble = _try(site, body)
        if trouble is None:
            return
        if time.monotonic() > deadline:
            raise Transient(f"the site did not take the signals for {PATIENCE:.0f} s: {trouble}")
        if not told:
            complain(f"the site does not take signals at the moment ({trouble}); trying again")
            told = True
        time.sleep(wait)
        wait = min(wait * 2, 5.0)


def _try(site: httpx2.Client, body: dict[str, Any]) -> str | None:
    """None when taken, else what is in the way; Refused when it will not help to try again."""
    try:
        answer = site.post("/signals/ingest", json=body)
    except httpx2.TransportError as error:
        return str(error) or type(error).__name__
    if answer.is_success:
        return None
    if answer.status_code in AGAIN:
        return f"status {answer.status_code}"
    raise Refused(f"the site refused the signals with status {answer.status_code}: {answer.text[:300]}")
