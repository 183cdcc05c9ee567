"""The files around docker-compose.yml agree with each other: numbers, addresses, defaults, versions."""

import re
from ipaddress import ip_address

import pytest

from infra.docker import addresses, facts, rules, uids
from infra.docker.bus import places
from infra.docker.edge import configuration
from infra.docker.enter import command, faults
from infra.docker.settings import DEFAULTS, Asked, asked
from infra.local import config
from infra.local.config import Config
from shared.errors import Refused

TEXT = rules.FILE.read_text()
DOCKERFILE = (rules.FILE.parent / "infra/docker/Dockerfile").read_text()
PLAIN = Asked(
    {"console": "console.localhost", "site": "site.localhost", "workspace": "workspace.localhost"},
    8443,
    "10.84",
    frozenset(),
)


def _config(*servers: str) -> Config:
    return Config(
        install_id="x", install_uid=0, os_separation=True, containers=True, ports=config.ports_from(8420), urls={},
        users={}, uids={}, nats_servers=[f"tls://{each}:8423" for each in servers],
    )  # fmt: skip


def test_every_address_in_the_file_is_the_one_that_setup_writes() -> None:
    for part, service in rules.load()["services"].items():
        for network, settings in (service.get("networks") or {}).items():
            if address := (settings or {}).get("ipv4_address"):
                number = address.replace("${SCHLEUSE_NET:-10.84}", "10.84")
                if network == "bus":
                    assert number == addresses.on_the_bus("10.84", part)
                elif network.startswith("front-") and part != "operator":
                    wanted = addresses.proxies("10.84") if part == "nginx" else addresses.fronts("10.84").values()
                    assert number in wanted


def test_the_defaults_of_the_file_are_those_of_the_program() -> None:
    for name, default in re.findall(r"\$\{SCHLEUSE_([A-Z_]+):-([^}]*)\}", TEXT):
        if name in DEFAULTS:
            assert default == DEFAULTS[name], name


def test_images_are_named_by_version_and_run_as_nobody_special() -> None:
    assert re.search(r"^ARG PYTHON=\S+:\d+\.\d+\.\d+-slim-bookworm$", DOCKERFILE, re.M)
    for target in ("app", "postgres", "nats"):
        stage = DOCKERFILE.split(f"AS {target}\n")[1].split("\nFROM ")[0]
        user = re.search(r"^USER (\d+):\d+$", stage, re.M)
        assert user and user[1] != "0", target


def test_no_number_is_used_twice() -> None:
    numbers = [user.uid for user in uids.users().values()] + [uids.group()]
    assert len(set(numbers)) == len(numbers)


def test_a_fresh_installation_beyond_loopback_is_off() -> None:
    assert config.site_mode(config.HOSTS.values()) == "open"
    assert config.site_mode(addresses.fronts("10.84").values()) == "off"
    assert config.site_mode(["127.0.0.1", "0.0.0.0"]) == "off"


def test_one_server_of_the_bus_has_no_routes_and_three_know_the_two_others() -> None:
    (alone,) = places(_config("10.84.0.10")).values()
    assert alone.routes is None and alone.host == "10.84.0.10"
    three = places(_config("10.84.0.10", "10.84.0.11", "10.84.0.12"))
    assert [place.name for place in three.values()] == ["nats", "nats-2", "nats-3"]
    assert all(
        place.routes and len(place.routes.peers) == 2 and not any(place.host in each for each in place.routes.peers)
        for place in three.values()
    )


def test_nginx_leads_to_where_the_services_listen() -> None:
    text = configuration(PLAIN, config.ports_from(8420))
    for where in addresses.fronts("10.84").values():
        assert f"server {where}:" in text
    assert "listen 8443 ssl" in text


@pytest.mark.parametrize(
    "name, value",
    [("PORT", "0"), ("PORT", "https"), ("NET", "10"), ("NET", "10.300"), ("SITE_HOST", "console.localhost")],
)
def test_a_wish_that_cannot_be_meant_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"SCHLEUSE_{name}", value)
    with pytest.raises(Refused):
        asked()


def _good(uid: int, groups: list[int]) -> dict[str, object]:
    return {
        "uid": [uid],
        "gid": [uid],
        "groups": groups,
        "capabilities": {"CapEff": 0, "CapBnd": 0},
        "no_new_privileges": True,
        "read_only_root": True,
    }


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"uid": [8422]}, "infra/docker/uids says 8423"),
        ({"gid": [0]}, "infra/docker/uids says 8423"),
        ({"groups": [8423, 0]}, "group_add"),
        ({"capabilities": {"CapEff": 0, "CapBnd": 1}}, "cap_drop"),
        ({"no_new_privileges": False}, "no-new-privileges"),
        ({"read_only_root": False}, "read_only"),
    ],
)  # fmt: skip
def test_a_container_that_is_not_who_it_must_be_says_what_to_change(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object], says: str
) -> None:
    monkeypatch.setattr("infra.docker.enter._strange_users", lambda: iter(()))
    good = _good(8423, [8420, 8423])
    assert list(faults("site", good)) == []
    assert any(says in fault for fault in faults("site", good | wrong))


def test_every_part_has_a_command() -> None:
    for part in (*rules.wanted().keys() - {"nginx", "otel", "jaeger", "nats-2", "nats-3"},):
        assert command(part, [])


def test_facts_of_this_very_process_can_be_had() -> None:
    found = facts.gather()
    assert found["uid"] and isinstance(found["read_only_root"], bool)
    assert all(ip_address(each.rpartition(":")[0]) for each in found["listens"])
