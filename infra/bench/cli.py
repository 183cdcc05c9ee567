"""`schleuse bench lock`, `schleuse bench agent`, `schleuse bench connectors`, `schleuse bench backup`, `schleuse bench edge`, `schleuse bench tasks`, `schleuse bench site`."""

import signal
import sys
from contextlib import nullcontext
from typing import Annotated

import typer
import uvloop

from infra.bench import audit
from infra.bench import connectors as calls
from infra.bench.agent import TARGETS as AGENT_TARGETS
from infra.bench.agent import measure_agent
from infra.bench.backup import measure
from infra.bench.edge import measure_edge
from infra.bench.lock import Bench, Sizes
from infra.bench.report import show
from infra.bench.site import PARTS as SITE_PARTS
from infra.bench.site import TARGETS as SITE_TARGETS
from infra.bench.site import measure_site
from infra.bench.target import running_at, throwaway
from infra.bench.tasks import TARGETS as TASK_TARGETS
from infra.bench.tasks import measure_tasks
from infra.bench.time_cli import time
from infra.cli.options import DEFAULT_STATE, Json, State, print_json


def register(app: typer.Typer) -> None:
    bench = typer.Typer(help="Measure what this machine reaches.", no_args_is_help=True)
    bench.callback()(_nothing)
    bench.command("lock")(lock)
    bench.command("connectors")(connectors)
    bench.command("backup")(backup)
    bench.command("edge")(edge)
    bench.command("agent")(agent)
    bench.command("time")(time)
    bench.command("tasks")(tasks)
    bench.command("site")(site)
    app.add_typer(bench, name="bench")


def _nothing() -> None:
    """Keeps `bench` a group while it has one command."""


def lock(
    live: Annotated[
        bool, typer.Option("--live", help="Measure the stack that runs in --state; leaves pages and counts in it.")
    ] = False,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Report the best of so many.")] = 3,
    size: Annotated[float, typer.Option("--size", help="Share of the full work; below 1 for a quick look.")] = 1.0,
    cluster: Annotated[bool, typer.Option("--cluster", help="The throwaway stack is a cluster.")] = False,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Measure the lock: latency, rates and memory, beside what its parts reach alone in the same run.

    Takes some minutes, in a throwaway stack of its own. Use a machine that does nothing else: each run shows how many cores
    it had and how much of the machine was idle. Figures go to standard output, progress to standard error.
    """
    signal.signal(signal.SIGTERM, _end)
    with nullcontext(running_at(state, own=False)) if live else throwaway(_say, cluster=cluster) as target:
        found = uvloop.run(Bench(target, Sizes.scaled(runs, size), _say).measure())
    print_json(found) if as_json else show(found)


def connectors(
    live: Annotated[
        bool,
        typer.Option("--live", help="Measure the stack that runs in --state; leaves a connector and entries in it."),
    ] = False,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Report the best of so many.")] = 3,
    size: Annotated[float, typer.Option("--size", help="Share of the full work; below 1 for a quick look.")] = 1.0,
    state: State = DEFAULT_STATE,
    as_json: Json = False,
) -> None:
    """Measure calls through the connectors beside direct ones, with every entry of the audit on disk.

    In a throwaway stack of its own. Use a machine that does nothing else.
    """
    signal.signal(signal.SIGTERM, _end)
    with nullcontext(running_at(state, own=False)) if live else throwaway(_say) as target:
        found = uvloop.run(calls.measure_connectors(target, runs, calls.Sizes().scaled(size), _say))
        found |= uvloop.run(audit.measure_audit(target, size, _say))
    print_json(found) if as_json else show(found, (*calls.TARGETS, *audit.TARGETS))


def agent(
    size: Annotated[float, typer.Option("--size", help="Share of the full work; below 1 for a quick look.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Measure the agent with its built-in model: turns, spend, lessons, conversations, guests.

    In a throwaway stack of its own. Use a machine that does nothing else.
    """
    signal.signal(signal.SIGTERM, _end)
    with throwaway(_say) as target:
        found = uvloop.run(measure_agent(target, size, _say))
    print_json(found) if as_json else show(found, AGENT_TARGETS)


def tasks(
    size: Annotated[float, typer.Option("--size", help="Share of the full work; below 1 for a quick look.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Measure tasks beside Procrastinate and PgQueuer on the same Postgres, toasts, and files that come and go.

    In a throwaway stack of its own. Use a machine that does nothing else. The two queues are installed for tests only.
    """
    signal.signal(signal.SIGTERM, _end)
    with throwaway(_say) as target:
        found = uvloop.run(measure_tasks(target, size, _say))
    print_json(found) if as_json else show(found, TASK_TARGETS)


def site(
    size: Annotated[float, typer.Option("--size", help="Share of the full work; below 1 for a quick look.")] = 1.0,
    only: Annotated[str, typer.Option("--only", help=f"One part: {', '.join(SITE_PARTS)}.")] = "",
    as_json: Json = False,
) -> None:
    """Measure the site's pages beside nginx's own files, a site of 100,000 pages, and what the console does with a million records.

    In a throwaway stack of its own. Takes about a quarter of an hour. Use a machine that does nothing else.
    """
    signal.signal(signal.SIGTERM, _end)
    with throwaway(_say) as target:
        found = uvloop.run(measure_site(target, size, only, _say))
    print_json(found) if as_json else show(found, tuple(each for each in SITE_TARGETS if each[1][0] in found))


def backup(
    gigabytes: Annotated[float, typer.Option("--gigabytes", min=0.01, help="How many rows, by their size.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Measure a backup and a restore, beside a plain tar of the same files. In a throwaway stack of its own."""
    signal.signal(signal.SIGTERM, _end)
    with throwaway(_say) as target:
        found = measure(target, gigabytes, _say)
    if as_json:
        print_json(found)
        return
    typer.echo(
        f"{found['rows']} rows, {found['plain_bytes'] / 1024**2:.0f} MiB; at most {found['peak_mib']} MiB of memory"
    )
    for name in ("tar", "backup", "restore"):
        typer.echo(f"{name:<8} {found[f'{name}_s']:>6} s")


def edge(
    runs: Annotated[int, typer.Option("--runs", min=1, help="Report the best of so many.")] = 3,
    requests: Annotated[int, typer.Option("--requests", min=100, max=28_000, help="Of each leg.")] = 20_000,
    as_json: Json = False,
) -> None:
    """Measure nginx in front: cached pages over TLS beside a static file, and what it adds to a page's time. In a throwaway stack."""
    signal.signal(signal.SIGTERM, _end)
    with throwaway(_say) as target:
        found = uvloop.run(measure_edge(target, runs, requests, _say))
    if as_json:
        print_json(found)
        return
    for name, figure in found.items():
        typer.echo(f"{name:<24} {figure:>10,.2f}")


def _end(*_: object) -> None:
    """A throwaway stack is stopped also when the command is told to end."""
    raise SystemExit(143)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
