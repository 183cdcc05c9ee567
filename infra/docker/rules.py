"""What docker-compose.yml must say, as rules over the parsed file. Used by tests and by `schleuse prove`, each on the file it has before it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from infra.docker import uids

Compose = dict[str, Any]
FILE = Path(__file__).resolve().parents[2] / "docker-compose.yml"
INTERNAL = ("bus", "front-console", "front-site", "front-workspace", "tracing")
ADMINISTRATORS = ("setup", "operator")
"""Root inside, and only while their one command runs: they make everybody's folders, and attack as everybody."""


@dataclass(frozen=True)
class Wanted:
    """`uid`: of user and group. `mounts`: volume -> whether it is writable. `networks`: none means no network at all."""

    uid: int
    networks: frozenset[str]
    mounts: dict[str, bool]
    capabilities: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    groups: tuple[str, ...] = ()
    publishes: bool = False
    profile: str = ""
    image: str = ""
    health: bool = True


def load(path: Path = FILE) -> Compose:
    """The file as it is, names of variables and all."""
    found: Compose = yaml.safe_load(path.read_text())
    return found


def wanted() -> dict[str, Wanted]:
    """Every container there may be."""
    users, group = uids.users(), (str(uids.group()),)
    everything = dict.fromkeys(
        [
            "state",
            "pg",
            "pg-socket",
            "tls",
            "nats",
            "secrets",
            "workspace",
            "spool",
            *_of("run", "keeper", "nats", "apps"),
        ],
        True,
    )
    found = {
        service: Wanted(
            users[service].uid,
            frozenset({"bus", *networks}),
            {"public": False, f"keys-{service}": service == "console", f"run-{service}": True, "pg-socket": False},
            groups=group,
        )
        for service, networks in {
            "bridge": (),
            "console": ("front-console",),
            "site": ("front-site",),
            "agent": ("front-workspace",),
            "connectors": ("outward",),
        }.items()
    }
    found["connectors"].mounts["secrets"] = True
    found["agent"].mounts.update(workspace=True, spool=True)
    found["apps"] = Wanted(users["apps"].uid, frozenset(), {"public": False, "run-apps": True})
    found["console"].mounts["run-apps"] = False
    found["postgres"] = Wanted(
        users["pgadm"].uid, frozenset(), {"pg": True, "pg-socket": True, "public": False}, groups=group
    )
    found["keeper"] = Wanted(
        users["keeper"].uid, frozenset({"bus"}), {"public": False, "keys-keeper": False, "run-keeper": True}
    )
    for name in ("nats", "nats-2", "nats-3"):
        run = {"run-nats": True} if name == "nats" else {}
        profile = "" if name == "nats" else "cluster"
        found[name] = Wanted(users["nats"].uid, frozenset({"bus"}), {name: True, "tls": False, **run}, profile=profile)
    fronts = frozenset({"front-console", "front-site", "front-workspace"})
    found["nginx"] = Wanted(users["nginx"].uid, fronts | {"edge"}, {"edge": False, "spool": False}, publishes=True)
    found["setup"] = Wanted(
        0, frozenset(), {**everything, "nats-2": True, "nats-3": True, "public": True, "edge": True, **dict.fromkeys(_of("keys", "keeper"), True)},
        frozenset({"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"}), frozenset({"/mounts/certificates"}), health=False,
    )  # fmt: skip
    found["operator"] = Wanted(
        0, fronts | {"bus"}, {**everything, "edge": False, **dict.fromkeys(_of("keys"), True)},
        frozenset({"DAC_OVERRIDE", "KILL", "SETGID", "SETPCAP", "SETUID"}), profile="operator", health=False,
    )  # fmt: skip
    found["otel"] = Wanted(
        10001,
        frozenset({"bus", "tracing"}),
        {},
        binds=frozenset({"/etc/otel/collector.yaml"}),
        profile="tracing",
        health=False,
    )
    found["jaeger"] = Wanted(10001, frozenset({"tracing", "edge"}), {}, profile="tracing", publishes=True, health=False)
    return found


def _of(kind: str, *more: str) -> list[str]:
    return [f"{kind}-{name}" for name in ("agent", "console", "site", "connectors", "bridge", *more)]


def faults(compose: Compose) -> Iterator[str]:
    """Each sentence names a container and what is wrong with it."""
    rules, services = wanted(), compose.get("services") or {}
    for name in sorted(rules.keys() - services.keys()):
        yield f"{name}: is missing"
    for name, service in services.items():
        if name not in rules:
            yield f"{name}: no rule knows this container; say in infra/docker/rules.py what it may"
            continue
        for says in _of_service(service, rules[name], name):
            yield f"{name}: {says}"
    yield from _networks(compose.get("networks") or {})


def _of_service(service: Compose, rule: Wanted, name: str) -> Iterator[str]:
    yield from _hardening(service, rule)
    yield from _reach(service, rule, name)
    yield from _mounts(service, rule)
    yield from _life(service, rule, name)


def _hardening(service: Compose, rule: Wanted) -> Iterator[str]:
    if service.get("read_only") is not True:
        yield "can write to its image: read_only must be true"
    if service.get("cap_drop") != ["ALL"]:
        yield "cap_drop must be [ALL]"
    if set(service.get("cap_add") or []) != rule.capabilities:
        yield f"cap_add must be {sorted(rule.capabilities)}, not {service.get('cap_add')}"
    if service.get("security_opt") != ["no-new-privileges:true"]:
        yield f"security_opt must be no-new-privileges and nothing else, not {service.get('security_opt')}"
    for key in (
        "privileged",
        "devices",
        "pid",
        "ipc",
        "userns_mode",
        "uts",
        "cgroup_parent",
        "device_cgroup_rules",
        "links",
        "volumes_from",
    ):
        if service.get(key):
            yield f"{key} opens what is kept apart"
    if service.get("user") != f"{rule.uid}:{rule.uid}":
        yield f"user must be {rule.uid}:{rule.uid} as infra/docker/uids says, not {service.get('user')}"
    if tuple(service.get("group_add") or ()) != rule.groups:
        yield f"group_add must be {list(rule.groups)}, not {service.get('group_add')}"


def _reach(service: Compose, rule: Wanted, name: str) -> Iterator[str]:
    networks = service.get("networks") or {}
    if set(networks) != rule.networks:
        yield f"must be on the networks {sorted(rule.networks)}, not {sorted(networks)}"
    mode = "none" if not rule.networks else None
    if service.get("network_mode") != mode:
        yield f"network_mode must be {mode}, not {service.get('network_mode')}"
    ports = [str(each) for each in service.get("ports") or []]
    if ports and not rule.publishes:
        yield f"publishes {ports}, but only nginx may"
    if name == "jaeger" and not all(each.startswith("127.0.0.1:") for each in ports):
        yield "its page is for this machine only: publish it on 127.0.0.1"
    for network, settings in networks.items():
        fixed = (settings or {}).get("ipv4_address")
        if network not in ("edge", "outward") and not fixed:
            yield f"needs a fixed address on {network}"


def _mounts(service: Compose, rule: Wanted) -> Iterator[str]:
    found: dict[str, bool] = {}
    for each in service.get("volumes") or []:
        source, target, options = _mount(each)
        if "/" in source or source.startswith(("$", ".")):
            if target not in rule.binds or options != "ro":
                yield f"mounts {source} of the machine"
            continue
        found[source] = options != "ro"
    for volume, writable in found.items():
        if volume not in rule.mounts:
            yield f"must not see the volume {volume}"
        elif writable and not rule.mounts[volume]:
            yield f"must not write to the volume {volume}"
    if missing := sorted(rule.mounts.keys() - found.keys()):
        yield f"needs the volumes {missing}"


def _mount(text: object) -> tuple[str, str, str]:
    """(source, target, options) of the short form; variables have colons of their own."""
    plain = str(text)
    if plain.startswith("${"):
        name, _, rest = plain.partition("}")
        source, (_, target, *options) = f"{name}}}", rest.split(":")
    else:
        source, target, *options = plain.split(":")
    return source, target, options[0] if options else ""


def _life(service: Compose, rule: Wanted, name: str) -> Iterator[str]:
    if rule.health and not (service.get("healthcheck") or {}).get("test"):
        yield "needs a health check"
    wanted_restart = "no" if name in ADMINISTRATORS else "unless-stopped"
    if service.get("restart") != wanted_restart:
        yield f"restart must be {wanted_restart}, not {service.get('restart')}"
    if rule.health and not service.get("stop_grace_period"):
        yield "needs time to stop: stop_grace_period"
    image = str(service.get("image", ""))
    if ":" not in image or image.endswith(":latest"):
        yield f"its image must have a version: {image}"
    if (service.get("profiles") or [""]) != [rule.profile]:
        yield f"profile must be {rule.profile or 'none'}, not {service.get('profiles')}"


def _networks(networks: Compose) -> Iterator[str]:
    for name in sorted({*INTERNAL, "edge", "outward"} ^ networks.keys()):
        yield f"network {name}: {'is missing' if name not in networks else 'is not known'}"
    for name, network in networks.items():
        inner = bool((network or {}).get("internal"))
        if inner != (name in INTERNAL):
            yield f"network {name}: {'must be internal' if name in INTERNAL else 'must not be internal'}"
    options = (networks.get("edge") or {}).get("driver_opts") or {}
    if options.get("com.docker.network.bridge.enable_ip_masquerade") != "false":
        yield "network edge: must translate no addresses, so that nginx gets no way out"
