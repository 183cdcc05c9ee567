"""The command, environment and readiness of every part."""

import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from infra.local import readiness
from infra.local.command import as_user, environment, without_network
from infra.local.instances import base_of, number_of, servers, services
from infra.local.layout import APPS, user_of
from infra.local.part import Plan
from infra.local.preflight import has_room
from infra.local.prepare import Prepared

STOP_SIGNALS = {"postgres": signal.SIGINT}
"""SIGINT is Postgres' fast stop: open transactions are rolled back, everything committed is on disk."""


def plans(prepared: Prepared, servers_ready: Callable[[], Awaitable[None]]) -> dict[str, Plan]:
    """By part, in the order of starting. Services wait for both servers before each start, so that they do not fail over and over while one recovers."""
    cluster = prepared.config.cluster
    return (
        {name: _server(prepared, name) for name in servers(cluster=cluster)}
        | {name: _service(prepared, name, servers_ready) for name in services(cluster=cluster)}
        | {APPS: _apps(prepared)}
    )


def _apps(prepared: Prepared) -> Plan:
    """Where the kernel lets the starter do it, in a network of its own, in which there is nothing."""
    layout, runtime = prepared.layout, prepared.runtime
    command = [str(runtime.python), "-m", "infra.apps.host", "--state", str(layout.state)]
    wrapped = without_network(as_user(prepared.who, APPS, command))
    return Plan(APPS, wrapped, environment(runtime), str(runtime.code), partial(readiness.service, layout.health(APPS)))


def _server(prepared: Prepared, name: str) -> Plan:
    layout, runtime = prepared.layout, prepared.runtime
    if name == "postgres":
        command = [str(runtime.python), "-m", "infra.postgres.launch", "--state", str(layout.state)]
        probe = partial(readiness.postgres, layout.pg_socket_dir)
        alive = partial(readiness.postgres_listens, layout.pg_socket_dir)
    else:
        command = [str(runtime.nats), "-c", str(layout.bus_conf(name))]
        probe = partial(readiness.nats, prepared.config.ports[name])
        alive = partial(readiness.nothing_to_ask)
    stop = STOP_SIGNALS.get(name, signal.SIGTERM)
    wrapped = as_user(prepared.who, user_of(name), command, death_signal=stop.name.removeprefix("SIG"))
    plan = Plan(name, wrapped, environment(runtime), str(runtime.code), probe, stop, alive=alive)
    return plan if name == "postgres" else replace(plan, is_stuck=says_full, has_room=partial(has_room, layout.nats))


def says_full(line: bytes) -> bool:
    return b"no space left on device" in line or b"disk quota exceeded" in line


def _service(prepared: Prepared, name: str, may_start: Callable[[], Awaitable[None]]) -> Plan:
    layout, runtime = prepared.layout, prepared.runtime
    base, number = base_of(name), number_of(name)
    command = [str(runtime.python), "-m", f"services.{base}", "--state", str(layout.state)]
    command += ["--instance", str(number)] if number > 1 else []
    probe = partial(readiness.service, layout.health(name))
    return Plan(
        name, as_user(prepared.who, base, command), environment(runtime), str(runtime.code), probe, may_start=may_start
    )
