"""The command, environment and readiness of every part."""

import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from infra.local import readiness
from infra.local.command import as_user, environment
from infra.local.layout import user_of
from infra.local.part import Plan
from infra.local.preflight import has_room
from infra.local.prepare import Prepared

SERVICE_ORDER = ("bridge", "console", "site", "agent", "connectors")
STOP_SIGNALS = {"postgres": signal.SIGINT}
"""SIGINT is Postgres' fast stop: open transactions are rolled back, everything committed is on disk."""


def plans(prepared: Prepared, servers_ready: Callable[[], Awaitable[None]]) -> dict[str, Plan]:
    """By part. Services wait for both servers before each start, so that they do not fail over and over while one recovers."""
    return {name: _server(prepared, name) for name in ("postgres", "nats")} | {
        name: _service(prepared, name, servers_ready) for name in SERVICE_ORDER
    }


def _server(prepared: Prepared, name: str) -> Plan:
    layout, runtime = prepared.layout, prepared.runtime
    if name == "postgres":
        command = [str(runtime.python), "-m", "infra.postgres.launch", "--state", str(layout.state)]
        probe = partial(readiness.postgres, layout.pg_socket_dir)
        alive = partial(readiness.postgres_listens, layout.pg_socket_dir)
    else:
        command = [str(runtime.nats), "-c", str(layout.nats_conf)]
        probe = partial(readiness.nats, prepared.config.ports["nats"])
        alive = partial(readiness.nothing_to_ask)
    stop = STOP_SIGNALS.get(name, signal.SIGTERM)
    wrapped = as_user(prepared.who, user_of(name), command, death_signal=stop.name.removeprefix("SIG"))
    plan = Plan(name, wrapped, environment(runtime), str(runtime.code), probe, stop, alive=alive)
    return plan if name == "postgres" else replace(plan, is_stuck=says_full, has_room=partial(has_room, layout.nats))


def says_full(line: bytes) -> bool:
    return b"no space left on device" in line or b"disk quota exceeded" in line


def _service(prepared: Prepared, name: str, may_start: Callable[[], Awaitable[None]]) -> Plan:
    layout, runtime = prepared.layout, prepared.runtime
    command = [str(runtime.python), "-m", f"services.{name}", "--state", str(layout.state)]
    probe = partial(readiness.service, layout.health(name))
    return Plan(
        name, as_user(prepared.who, name, command), environment(runtime), str(runtime.code), probe, may_start=may_start
    )
