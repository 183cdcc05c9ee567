"""docker-compose.yml says what it must, and every slip that opens something is found. No containers: only the file."""

import copy
from collections.abc import Callable

import pytest

from infra.docker import rules
from infra.docker.rules import Compose

Slip = Callable[[Compose], object]


def _service(name: str, **changed: object) -> Slip:
    return lambda compose: compose["services"][name].update(changed)


def _without(name: str, key: str) -> Slip:
    return lambda compose: compose["services"][name].pop(key)


def _mount(name: str, mount: str) -> Slip:
    return lambda compose: compose["services"][name]["volumes"].append(mount)


def _join(name: str, network: str) -> Slip:
    return lambda compose: (
        compose["services"][name].setdefault("networks", {}).update({network: {"ipv4_address": "10.84.0.99"}})
    )


SLIPS: dict[str, tuple[Slip, str]] = {
    "privileged": (_service("site", privileged=True), "site: privileged"),
    "a port of another service": (_service("console", ports=["8420:8420"]), "console: publishes"),
    "a port of postgres": (_service("postgres", ports=["127.0.0.1:5432:5432"]), "postgres: publishes"),
    "cap_drop missing": (_without("bridge", "cap_drop"), "bridge: cap_drop"),
    "a capability more": (_service("agent", cap_add=["NET_ADMIN"]), "agent: cap_add"),
    "a capability more for setup": (lambda c: c["services"]["setup"]["cap_add"].append("SYS_ADMIN"), "setup: cap_add"),
    "a writable root": (_service("connectors", read_only=False), "connectors: can write to its image"),
    "new privileges": (_without("nats", "security_opt"), "nats: security_opt"),
    "no system call filter": (_service("site", security_opt=["no-new-privileges:true", "seccomp:unconfined"]), "site: security_opt"),
    "a second one outward": (_join("agent", "outward"), "agent: must be on the networks"),
    "another surface's network": (_join("site", "front-console"), "site: must be on the networks"),
    "postgres on the bus": (_service("postgres", network_mode=None, networks={"bus": {"ipv4_address": "10.84.0.9"}}), "postgres: must be on the networks"),
    "the host's network": (_service("bridge", network_mode="host"), "bridge: network_mode"),
    "the host's processes": (_service("keeper", pid="host"), "keeper: pid"),
    "another uid": (_service("site", user="8422:8422"), "site: user must be 8423:8423"),
    "root": (_service("console", user="0:0"), "console: user must be"),
    "a group more": (_service("nats", group_add=["8420"]), "nats: group_add"),
    "another's keys": (_mount("site", "keys-bridge:/state/keys/bridge:ro"), "site: must not see the volume keys-bridge"),
    "everybody's keys": (_mount("agent", "state:/state"), "agent: must not see the volume state"),
    "its own keys, writable": (_service("bridge", volumes=["public:/state/public:ro", "keys-bridge:/state/keys/bridge", "run-bridge:/state/run/bridge", "pg-socket:/state/run/pg:ro"]), "bridge: must not write to the volume keys-bridge"),
    "the database's files": (_mount("console", "pg:/state/pg"), "console: must not see the volume pg"),
    "the engine's socket": (_mount("keeper", "/var/run/docker.sock:/var/run/docker.sock"), "keeper: mounts /var/run/docker.sock"),
    "a folder of the machine": (_mount("connectors", "./:/work"), "connectors: mounts ./"),
    "certificates, writable": (lambda c: c["services"]["setup"]["volumes"].__setitem__(-1, "${X:-./infra/docker/certificates}:/mounts/certificates"), "setup: mounts ${X:-./infra/docker/certificates}"),
    "the bus with a way out": (lambda c: c["networks"]["bus"].update(internal=False), "network bus: must be internal"),
    "a network more": (lambda c: c["networks"].update(more={}), "network more: is not known"),
    "nginx with a way out": (lambda c: c["networks"]["edge"].pop("driver_opts"), "network edge: must translate no addresses"),
    "no health check": (_without("site", "healthcheck"), "site: needs a health check"),
    "no restart": (_without("postgres", "restart"), "postgres: restart"),
    "setup again and again": (_service("setup", restart="always"), "setup: restart"),
    "no time to stop": (_without("bridge", "stop_grace_period"), "bridge: needs time to stop"),
    "an image of no version": (_service("nginx", image="nginx:latest"), "nginx: its image must have a version"),
    "the operator always there": (_without("operator", "profiles"), "operator: profile"),
    "Jaeger for everybody": (_service("jaeger", ports=["16686:16686"]), "jaeger: its page is for this machine only"),
    "a container nobody knows": (lambda c: c["services"].update(spy={"image": "spy:1"}), "spy: no rule knows"),
    "a container less": (lambda c: c["services"].pop("keeper"), "keeper: is missing"),
}  # fmt: skip


@pytest.fixture(scope="module")
def compose() -> Compose:
    return rules.load()


def test_the_file_says_what_it_must(compose: Compose) -> None:
    assert list(rules.faults(compose)) == []


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_found(compose: Compose, name: str) -> None:
    slip, says = SLIPS[name]
    wrong = copy.deepcopy(compose)
    slip(wrong)
    found = list(rules.faults(wrong))
    assert any(fault.startswith(says) for fault in found), found
