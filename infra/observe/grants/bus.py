"""NATS: streams and durables as the server has them; accounts, users, exports, imports and settings from the file that it loaded.

The server has no account through which it could be asked for its accounts (S9), so what stands for them is the file on its command line, and whether it
loaded that file since it was last written. What each user can really do, `schleuse prove` tries.
"""

import re
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from infra.local.keys import bus_users
from infra.nats.config import render
from infra.nats.provision import REPLICAS, consumer_config, stream_config
from infra.nats.topology import account, durables, streams
from infra.observe.bus import admin, apart, listed, parts_here, place_of, plain
from infra.observe.grants.line import Facts, Key, Line, State, compare, unknown
from infra.observe.installation import Installation
from infra.observe.listening import started_at
from infra.observe.nats_conf import accounts, parse, server
from schemas.catalogue import SERVICES
from shared.errors import SchleuseError

LOADED = "Reloaded server configuration"
AS_DECLARED = "as declared"


async def read_bus(here: Installation) -> list[Line]:
    lines: list[Line] = []
    for part in parts_here(here):
        lines += _configuration(here, part)
    try:
        async with admin(here.layout, here.config) as js:
            found = await _streams(js, REPLICAS if here.config.cluster else 1)
    except SchleuseError as error:
        return [*lines, unknown("bus", "nats", "streams and durables", error.message)]
    return lines + compare("bus", _declared(), found, advise)


def advise(_: str, what: str, state: State) -> str:
    if what.startswith(("stream ", "durable ")):
        if state == "extra":
            return "no part of ours made it: look at what it holds, then delete it with the admin identity"
        return "provisioning makes it as declared: `schleuse down`, `schleuse up`"
    return "a start writes nats.conf anew: `schleuse down`, `schleuse up`"


def _configuration(here: Installation, part: str) -> list[Line]:
    path = here.layout.bus_conf(part) if here.config.containers else loaded_file(here, part)
    if path is None:
        return [unknown("bus", "nats", f"{part}: its configuration", "it does not run")]
    users = bus_users(here.layout, cluster=here.config.cluster)
    expected = parse(render(place_of(here, part), users))
    try:
        found = parse(path.read_text())
    except (OSError, ValueError) as error:
        return [unknown("bus", "nats", f"{part}: its configuration", str(error))]
    names = {key: name for name, key in users.items()}
    wanted, held = (_facts(part, names, conf) for conf in (expected, found))
    if here.config.containers:
        return compare("bus", wanted, held, advise)
    files = {("nats", f"{part}: file that it loaded"): str(here.layout.bus_conf(part)), ("nats", f"{part}: loaded since it was written"): "yes"}  # fmt: skip
    really = {("nats", f"{part}: file that it loaded"): str(path), ("nats", f"{part}: loaded since it was written"): _is_loaded(here, part, path)}  # fmt: skip
    return compare("bus", {**wanted, **files}, {**held, **really}, advise)


def loaded_file(here: Installation, part: str) -> Path | None:
    """The file on the running server's command line."""
    try:
        words = Path(f"/proc/{here.pids.get(part, 0)}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return None
    return Path(words[words.index("-c") + 1]) if "-c" in words else None


def _is_loaded(here: Installation, part: str, path: Path) -> str:
    """The server says in its log when it took a new configuration."""
    written, began = path.stat().st_mtime, started_at(here.pids[part])
    if written <= began + 1:
        return "yes"
    log = here.layout.logs / f"{part}.log"
    taken = log.exists() and LOADED in log.read_text(errors="replace").rpartition("Server is ready")[2]
    return "yes" if taken else "no: it was written after the server's start"


def _facts(part: str, names: dict[str, str], conf: dict[str, Any]) -> Facts:
    """Accounts by the service that has them; the first server's stand for all, unless another one's differ."""
    prefix = "" if part == "nats" else f"{part}: "
    owners = {account(service): service for service in SERVICES}
    found: dict[Key, str] = {}
    for (name, right), value in accounts(conf).items():
        for key, user in names.items():
            right = right.replace(key, f"of {user}")  # noqa: PLW2901 - a public key says nothing to a reader
        found[owners.get(name, "nats"), f"{prefix}account {name}: {right}"] = value
    return found | {("nats", f"{part}: setting {name}"): value for name, value in server(conf).items()}


def _declared() -> Facts:
    found: dict[Key, str] = {("nats", f"stream {stream.name}"): AS_DECLARED for stream in streams()}
    return found | {(each.reader, f"durable {each.stream} {each.name}"): AS_DECLARED for each in durables()}


async def _streams(js: JetStreamContext, replicas: int) -> Facts:
    wanted = {stream.name: stream_config(stream, replicas).as_dict() for stream in streams()}
    known = {(each.stream, each.name): each for each in durables()}
    found: dict[Key, str] = {}
    for stream in await listed(js, "STREAM.LIST", "streams"):
        config = stream["config"]
        name = config["name"]
        found["nats", f"stream {name}"] = _told(apart(_as_server(wanted[name]), config)) if name in wanted else _subjects(config)  # fmt: skip
        for consumer in await listed(js, f"CONSUMER.LIST.{name}", "consumers"):
            each = known.get((name, consumer["name"]))
            reader = each.reader if each else "nats"
            told = _told(apart(_as_server(plain(consumer_config(each, replicas).as_dict())), plain(consumer["config"]))) if each else _subjects(consumer["config"])  # fmt: skip
            found[reader, f"durable {name} {consumer['name']}"] = told
    return found


def _as_server(config: dict[str, Any]) -> dict[str, Any]:
    """Enumerations and durations as they come back from the server."""
    return {key: getattr(value, "value", value) for key, value in config.items()}


def _told(differing: str) -> str:
    return differing or AS_DECLARED


def _subjects(config: dict[str, Any]) -> str:
    subjects = config.get("subjects") or config.get("filter_subjects") or [config.get("filter_subject", "everything")]
    return re.sub(r"\s+", " ", ", ".join(subjects))
