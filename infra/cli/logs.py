"""`schleuse logs`: the parts' logs, each line with the name of its part."""

import sys
import time
from collections import deque
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, State
from infra.local.instances import parts
from infra.local.layout import Layout
from shared.errors import NotFound

NAMES = ("supervisor", *parts(cluster=False))
OF_CLUSTERS = ("supervisor", *parts(cluster=True))


def register(app: typer.Typer) -> None:
    app.command()(logs)


def logs(
    part: Annotated[list[str] | None, typer.Argument(help="Parts to show; all when none is named.")] = None,
    state: State = DEFAULT_STATE,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Last lines of each.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on showing what is written.")] = False,
) -> None:
    """Show the logs."""
    folder = Layout(state.resolve()).logs
    names = OF_CLUSTERS if (folder / "nats-2.log").exists() else NAMES
    wanted = part or list(names)
    if unknown := [name for name in wanted if name not in names]:
        raise NotFound(f"there is no part {', '.join(unknown)}; the parts are {', '.join(names)}")
    if not folder.is_dir():
        raise NotFound(f"{state} has no logs yet", code="not_running")
    places = {name: folder / f"{name}.log" for name in wanted}
    for name, path in places.items():
        _show_last(name, path, lines)
    if follow:
        _follow(places)


def _show_last(name: str, path: Path, lines: int) -> None:
    if path.exists():
        with path.open("rb") as stream:
            for line in deque(stream, maxlen=lines):
                _show(name, line)


def _show(name: str, line: bytes) -> None:
    sys.stdout.write(f"{name:<10} | {line.decode(errors='replace').rstrip()}\n")


def _follow(places: dict[str, Path]) -> None:
    """Until Ctrl-C. A file that starts anew is read from its beginning."""
    at = {name: path.stat().st_size if path.exists() else 0 for name, path in places.items()}
    try:
        while True:
            for name, path in places.items():
                at[name] = _show_new(name, path, at[name])
            sys.stdout.flush()
            time.sleep(0.2)
    except KeyboardInterrupt:
        return


def _show_new(name: str, path: Path, position: int) -> int:
    if not path.exists():
        return 0
    if path.stat().st_size < position:
        position = 0
    with path.open("rb") as stream:
        stream.seek(position)
        for line in stream:
            _show(name, line)
        return stream.tell()
