"""The `schleuse` command. Exit codes: 0 done, 1 failed or a difference found, 2 wrong usage or refused, 3 nothing is running.

Only the module of the command that was asked for is imported, so that `schleuse status` answers quickly.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

import typer

from infra.cli.options import FAILED, NOT_RUNNING, REFUSED, complain
from shared.errors import Conflict, NotFound, Refused, SchleuseError

COMMANDS: dict[str, str] = {
    "up": "infra.cli.up",
    "down": "infra.cli.down",
    "status": "infra.cli.status",
    "top": "infra.cli.top",
    "grants": "infra.cli.grants",
    "logs": "infra.cli.logs",
    "doctor": "infra.cli.doctor",
    "publish": "infra.cli.publish",
    "items": "infra.cli.items",
    "signals": "infra.cli.signals",
    "parked": "infra.cli.parked",
    "people": "infra.cli.people",
    "guests": "infra.cli.guests",
    "links": "infra.cli.links",
    "share": "infra.cli.share",
    "records": "infra.cli.records",
    "apikey": "infra.cli.access",
    "token": "infra.cli.access",
    "agent": "infra.cli.agent",
    "chat": "infra.cli.chat",
    "spend": "infra.cli.spend",
    "analytics": "infra.cli.analytics",
    "provenance": "infra.cli.provenance",
    "prices": "infra.cli.prices",
    "connectors": "infra.cli.connectors",
    "cards": "infra.cli.cards",
    "actions": "infra.cli.actions",
    "automations": "infra.cli.automations",
    "audit": "infra.cli.audit",
    "keys": "infra.cli.keys",
    "secrets": "infra.cli.secrets",
    "call": "infra.cli.call",
    "backup": "infra.cli.backup",
    "restore": "infra.cli.restore",
    "trace": "infra.cli.trace",
    "schedule": "infra.cli.schedule",
    "apps": "infra.cli.apps",
    "jobs": "infra.cli.jobs",
    "mappings": "infra.cli.mappings",
    "proposals": "infra.cli.proposals",
    "forget": "infra.cli.forget",
    "prove": "infra.prove.cli",
    "bench": "infra.bench.cli",
    "nginx": "infra.cli.nginx",
}
"""Command -> the module whose `register(app)` adds it."""

ABOUT = "Runs and operates Schleuse. Exit codes: 0 done, 1 failed or a difference found, 2 wrong usage or refused, 3 nothing is running."


def build(arguments: list[str]) -> typer.Typer:
    """The application with the command that `arguments` name, or with all of them."""
    app = typer.Typer(
        name="schleuse", help=ABOUT, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
    )
    app.callback()(_nothing)
    asked = next((each for each in arguments if not each.startswith("-")), "")
    for module in [COMMANDS[asked]] if asked in COMMANDS else dict.fromkeys(COMMANDS.values()):
        if find_spec(module) is not None:
            import_module(module).register(app)
    return app


def _nothing() -> None:
    """Keeps `app` a group of commands also when only one is registered."""


def run() -> None:
    try:
        build(sys.argv[1:])(prog_name="schleuse")
    except SchleuseError as error:
        complain(error.message)
        sys.exit(exit_code(error))
    except FileNotFoundError as error:
        if error.filename and str(error.filename).endswith("config.json"):
            complain(
                f"{str(error.filename).removesuffix('/config.json')} is no state directory; start one with `schleuse up`"
            )
            sys.exit(NOT_RUNNING)
        complain(f"{error.strerror}: {error.filename}")
        sys.exit(FAILED)
    except BrokenPipeError:
        sys.exit(FAILED)
    except OSError as error:
        complain(str(error))
        sys.exit(FAILED)


def exit_code(error: SchleuseError) -> int:
    if error.code == "not_running":
        return NOT_RUNNING
    return REFUSED if isinstance(error, Refused | NotFound | Conflict) else FAILED


if __name__ == "__main__":
    run()
