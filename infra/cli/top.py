"""`schleuse top`: how every part is doing, again and again; `q` ends it."""

import asyncio
import logging
import os
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from infra.cli.options import DEFAULT_STATE, FAILED, OK, Json, State, print_json
from infra.local.layout import Layout
from infra.observe.crew import Crew
from infra.observe.installation import identities_of, parts_of, pids_of, read_config, runtime_of
from infra.observe.top.sample import Sampler
from infra.observe.top.show import screen
from shared.errors import Transient

FIRST_SECONDS = 1.0
"""Rates need two looks."""
NARROWEST = 80
Once = Annotated[bool, typer.Option("--once", help="Print once and end.")]
Every = Annotated[float, typer.Option("--every", min=0.2, max=60, help="Seconds between two looks.")]


def register(app: typer.Typer) -> None:
    app.command()(top)


def top(state: State = DEFAULT_STATE, once: Once = False, as_json: Json = False, every: Every = 1.0) -> None:
    """Show rates, lag, connections, memory, chains and stores of every part. Without a terminal it prints once. Exit code 1 when something does not work."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # its remarks on closed TLS connections say nothing
    logging.getLogger("nats").setLevel(logging.CRITICAL)  # that the bus is away is a line of the screen
    layout = Layout(state.resolve())
    config = read_config(layout, state)
    parts = parts_of(layout)
    if not parts:
        raise Transient(f"nothing is running in {state}; start it with `schleuse up`", code="not_running")
    crew = Crew(identities_of(config), runtime_of(layout, pids_of(parts)))
    sampler = Sampler(layout, config, crew, every)
    if once or as_json or not sys.stdout.isatty():
        sample = asyncio.run(_twice(sampler))
        if as_json:
            print_json(sample)
        else:
            console = _console()
            console.print(screen(sample, console.width))
        raise typer.Exit(FAILED if any(each["tone"] == "stop" for each in sample["problems"]) else OK)
    asyncio.run(_live(sampler, every))


def _console() -> Console:
    """Where there is no terminal, the narrowest that everything fits into."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else NARROWEST)


async def _twice(sampler: Sampler) -> dict[str, Any]:
    try:
        await sampler.sample()
        await asyncio.sleep(FIRST_SECONDS)
        return await sampler.sample()
    finally:
        await sampler.close()


async def _live(sampler: Sampler, every: float) -> None:
    console, ended = _console(), asyncio.Event()
    try:
        with _keys(ended), Live(console=console, screen=True, auto_refresh=False) as live:
            while not ended.is_set():
                live.update(screen(await sampler.sample(), console.width, live=True), refresh=True)
                try:
                    async with asyncio.timeout(every):
                        await ended.wait()
                except TimeoutError:
                    continue
    finally:
        await sampler.close()


@contextmanager
def _keys(ended: asyncio.Event) -> Iterator[None]:
    """`q` ends it, and so does Ctrl-C. The terminal is given back as it was."""
    if not sys.stdin.isatty():
        yield
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        if os.read(number, 64).lower().startswith((b"q", b"\x03", b"\x1b")):
            ended.set()

    tty.setcbreak(number)
    loop.add_reader(number, pressed)
    try:
        yield
    finally:
        loop.remove_reader(number)
        termios.tcsetattr(number, termios.TCSADRAIN, before)
