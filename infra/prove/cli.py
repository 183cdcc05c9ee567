"""`schleuse prove`: exit code 0 when everything is as expected, 1 on any difference, 3 when nothing is running."""

import asyncio
import logging
import time
from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, FAILED, OK, Json, State, print_json
from infra.prove.areas.all import AREAS
from infra.prove.report import show, tell_separation
from infra.prove.run import prove
from infra.prove.target import Target

Areas = Annotated[
    list[str],
    typer.Option("--area", help=f"Only this area ({', '.join(AREAS)}); may be given more than once.", hidden=True),
]
Every = Annotated[bool, typer.Option("--all", help="Show every row, also those that came out alike.")]


def register(app: typer.Typer) -> None:
    app.command("prove")(prove_command)


def prove_command(state: State = DEFAULT_STATE, as_json: Json = False, every: Every = False, area: Areas = []) -> None:  # noqa: B006 - typer copies it
    """Attack the running system with the real credentials of every service, and compare what happens with what must happen.

    Safe on a live system: SQL is rolled back, purges and deletes match nothing, what is forged carries a mark and is removed again.
    """
    unknown = [each for each in area if each not in AREAS]
    if unknown:
        raise typer.BadParameter(f"no area is called {unknown[0]}; there are {', '.join(AREAS)}")
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of each TLS connection that a server closes
    started = time.monotonic()
    target = Target.load(state)
    with target.alone():
        checks = asyncio.run(prove(target, area or list(AREAS)))
    seconds = time.monotonic() - started
    failed = sum(check.failed for check in checks)
    if as_json:
        figures = {"failed": failed, "open": sum(check.is_open for check in checks), "seconds": round(seconds, 1)}
        apart = {"os_separation": target.separated, "egress_separation": target.config.egress_separation}
        print_json({"checks": [check.to_json() for check in checks], **figures, **apart})
    else:
        show(checks, seconds, every=every)
        tell_separation(os_users=target.separated, egress=target.config.egress_separation)
    raise typer.Exit(FAILED if failed else OK)
