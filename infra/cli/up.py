"""`schleuse up`: set up what is missing and start everything."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, OK, Json, State, complain, print_json
from infra.cli.progress import Progress, announce
from infra.local import config, place, public
from infra.local.detached import launch
from infra.local.layout import Layout
from infra.local.report import report
from shared.errors import Refused, SchleuseError
from shared.operator import acall

WAIT_SECONDS = 180.0


def register(app: typer.Typer) -> None:
    app.command()(up)


def up(
    state: State = DEFAULT_STATE,
    port_base: Annotated[
        int | None,
        typer.Option(
            "--port-base",
            help="Console here, site + 1, workspace + 2, bus + 3. Kept for later starts.",
            show_default="8420",
        ),
    ] = None,
    public_url: Annotated[
        list[str],
        typer.Option(
            "--public-url",
            help="What people type where a proxy stands in front: console=https://console.example, site=…, workspace=…. Kept.",
        ),
    ] = [],  # noqa: B006 - typer's way for a repeated option
    trusted_proxy: Annotated[
        list[str],
        typer.Option(
            "--trusted-proxy",
            help="The address from which that proxy connects: only its word counts for who asked. Kept.",
        ),
    ] = [],  # noqa: B006
    cluster: Annotated[
        bool | None,
        typer.Option(
            "--cluster/--no-cluster",
            help="Three servers of the bus (+ 3 to + 8) and two instances of every service. Chosen at the first start.",
            show_default="no",
        ),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Run in the background.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --detach: return when everything is ready.")] = False,
    as_json: Json = False,
) -> None:
    """Set up what is missing and start everything. A second start keeps all data."""
    already = place.held(_layout(state)) if state.exists() else False
    if already and not detach:
        raise Refused(
            f"{state} is already running; see `schleuse status`, or stop it with `schleuse down`", code="running"
        )
    if _in_containers(state):
        _say(state, as_json=as_json)
        raise typer.Exit(OK)
    if public_url or trusted_proxy:
        public.keep(state, port_base, public.read_urls(public_url), trusted_proxy, cluster=cluster)
    if already:
        config.cluster_of(config.read(_layout(state)), cluster)
        code = _wait_for_running(state) if wait else OK
    elif detach:
        code = _detached(state, port_base, Progress(quiet=as_json), wait=wait, cluster=cluster)
    else:
        code = _foreground(state, port_base, Progress(quiet=as_json), cluster=cluster)
    if code == OK and detach:
        _say(state, as_json=as_json)
    raise typer.Exit(code)


def _detached(state: Path, port_base: int | None, progress: Progress, *, wait: bool, cluster: bool | None) -> int:
    code = OK
    for event in launch(state, port_base, cluster=cluster):
        progress(event)
        if event["kind"] == "failed":
            code = event["code"]
            complain(event["text"])
        elif not wait and event["text"].startswith("Starting Postgres"):
            break
    progress.close()
    return code


def _foreground(state: Path, port_base: int | None, progress: Progress, *, cluster: bool | None) -> int:
    from infra.local.supervisor import supervise  # noqa: PLC0415 - the background form does not need it

    background: set[asyncio.Task[None]] = set()

    def tell(event: dict[str, Any]) -> None:
        progress(event)
        if event["kind"] == "ready":
            background.add(asyncio.get_running_loop().create_task(_say_soon(state)))
        elif event["kind"] == "failed":
            complain(event["text"])

    return asyncio.run(supervise(state, port_base, tell, cluster=cluster))


async def _say_soon(state: Path) -> None:
    link = await owner_link(state)
    announce(config.read(_layout(state)), link, foreground=True)


def _say(state: Path, *, as_json: bool) -> None:
    link = asyncio.run(owner_link(state))
    if as_json:
        print_json(report(state) | {"owner_link": link})
    else:
        announce(config.read(_layout(state)), link, foreground=False)


def _in_containers(state: Path) -> bool:
    """There compose starts everything; what is left to say is where it is, and the first owner's link."""
    found = config.read(_layout(state)) if state.exists() else None
    return found is not None and found.containers


def _layout(state: Path) -> Layout:
    return Layout(state.resolve())


async def owner_link(state: Path) -> str | None:
    """The one-time link with which the first owner signs in; None when there is an owner. It is printed, and in no log (S12)."""
    try:
        return (await acall(state, "console", "owner.link", {}, 10.0)).get("url")
    except SchleuseError:
        return None


def _wait_for_running(state: Path) -> int:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        found = report(state)
        if found["ready"]:
            return OK
        if not place.held(_layout(state)):
            complain(f"{state} stopped while starting; see `schleuse logs --state {state}`")
            return FAILED
        time.sleep(0.1)
    complain(f"{state} did not become ready within {WAIT_SECONDS:.0f} s; see `schleuse status`")
    return FAILED
