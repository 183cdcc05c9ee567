"""The rules that keep all parts but connectors from leaving the machine, in a network of the test's own, with another machine in it."""

import pwd
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.local import config as configs
from infra.local.firewall import choice, keeper, notes, rules
from infra.local.firewall.iptables import Iptables
from infra.local.firewall.keeper import Firewall
from infra.local.firewall.nft import Nft
from infra.local.firewall.rules import FAMILIES, REFUSED, Backend, Rules, rules_of
from infra.local.firewall.tools import find
from infra.local.identities import NO_LOGIN
from infra.local.layout import ALL_USERS, Layout
from infra.prove.doing import leaving
from shared.errors import Refused
from tests.factories.network import HERE, NOBODY_ELSE, THERE, Network, missing, own_network

SHUT, FREE = NOBODY_ELSE, NOBODY_ELSE + 1
RULES = Rules("schleuse-0123456789ab", {"agent": SHUT, "site": SHUT + 2})
IN_ORDER = {(user, family): REFUSED for user in RULES.users for family in FAMILIES}
OTHER_PORT = 8080


@pytest.fixture
def network() -> Iterator[Network]:
    if why := missing():
        pytest.skip(why)
    with own_network() as found:
        yield found


@pytest.fixture(params=["nft", "iptables"])
def backend(request: pytest.FixtureRequest, network: Network) -> Backend:
    found = next((each for each in choice.backends() if each.tool == request.param), None)
    if found is None:
        pytest.skip(f"{request.param} is not installed")
    return found


def ruleset() -> str:
    """Everything that is in the firewall, by whichever tools there are."""
    tools = [[find("nft"), "-s", "list", "ruleset"], [find("iptables"), "-S"], [find("ip6tables"), "-S"]]
    return "\n".join(
        subprocess.run(each, capture_output=True, text=True, check=False).stdout for each in tools if each[0]
    )  # type: ignore[arg-type]


def test_whoever_is_shut_in_reaches_nothing_off_the_machine(network: Network, backend: Backend) -> None:
    backend.put(RULES)
    with network.listening(THERE[0], OTHER_PORT, there=True), network.listening(THERE[1], OTHER_PORT, there=True):
        for host in THERE:
            assert "ConnectionRefused" in network.attempt(SHUT, host, OTHER_PORT)
            assert "PermissionError" in network.attempt(SHUT, host, OTHER_PORT, "udp")
            for uid in (0, FREE):
                assert network.attempt(uid, host, OTHER_PORT) == ""


def test_whoever_is_shut_in_reaches_this_machine_but_no_name_server(network: Network, backend: Backend) -> None:
    backend.put(RULES)
    for host in ("127.0.0.1", HERE[1]):
        with network.listening(host, OTHER_PORT), network.listening(host, 53):
            assert network.attempt(SHUT, host, OTHER_PORT) == ""
            assert "ConnectionRefused" in network.attempt(SHUT, host, 53)
            assert "PermissionError" in network.attempt(SHUT, host, 53, "udp")
            assert network.attempt(FREE, host, 53) == ""


async def test_the_attacker_tells_what_left_from_what_was_kept_in(network: Network, backend: Backend) -> None:
    tried = [{"host": host, "port": OTHER_PORT, "by": by} for host in THERE for by in ("tcp", "udp")]
    nowhere = [{"host": "192.0.2.1", "port": 443, "by": "udp"}]
    with network.listening(THERE[0], OTHER_PORT, there=True), network.listening(THERE[1], OTHER_PORT, there=True):
        assert [each["got"] for each in await leaving.do(Path(), [*tried, *nowhere])] == ["done"] * 4 + ["nowhere"]
        backend.put(Rules(RULES.name, {"agent": 0}))  # in this network the test's own user is the one that is shut in
        assert [each["got"] for each in await leaving.do(Path(), tried)] == ["refused"] * 4


def test_what_a_front_answers_gets_out(network: Network, backend: Backend) -> None:
    backend.put(RULES)
    for host in HERE:
        with network.listening(host, OTHER_PORT, uid=SHUT):
            assert network.from_there(host, OTHER_PORT) == ""


def test_nothing_but_ours_is_touched_and_nothing_of_ours_is_left(network: Network, backend: Backend) -> None:
    other = Rules("schleuse-ba9876543210", {"agent": SHUT + 3})
    backend.put(other)
    before = ruleset()
    for _ in range(2):
        backend.put(RULES)
    assert backend.read(RULES) == IN_ORDER
    for _ in range(2):
        backend.take_away(RULES)
    assert ruleset() == before
    assert all(said != REFUSED for said in backend.read(RULES).values())
    backend.take_away(other)


def in_iptables(*words: str) -> Callable[[], object]:
    return lambda: subprocess.run(["iptables", *words], check=True)


def in_nft(words: str) -> Callable[[], object]:
    return lambda: subprocess.run(["nft", words], check=True)


HOLES = {
    "iptables: a rule deleted": in_iptables("-D", RULES.name, "3"),
    "iptables: another user": in_iptables("-R", RULES.name, "3", "-m", "owner", "--uid-owner", "1", "!", "-o", "lo", "-p", "tcp", "--syn", "-j", "REJECT", "--reject-with", "tcp-reset"),
    "iptables: everybody but them": in_iptables("-R", RULES.name, "4", "-m", "owner", "!", "--uid-owner", str(SHUT), "!", "-o", "lo", "!", "-p", "tcp", "-j", "REJECT", "--reject-with", "icmp-admin-prohibited"),
    "iptables: accepted instead": in_iptables("-R", RULES.name, "4", "-m", "owner", "--uid-owner", str(SHUT), "!", "-o", "lo", "!", "-p", "tcp", "-j", "ACCEPT"),
    "iptables: accepted inside before": in_iptables("-I", RULES.name, "1", "-j", "ACCEPT"),
    "iptables: accepted outside before": in_iptables("-I", "OUTPUT", "1", "-j", "ACCEPT"),
    "iptables: never reached": in_iptables("-D", "OUTPUT", "-j", RULES.name),
    "iptables: emptied": in_iptables("-F", RULES.name),
    "nft: the table deleted": in_nft(f"delete table inet {RULES.name}"),
    "nft: emptied": in_nft(f"flush chain inet {RULES.name} way_out"),
    "nft: another user": in_nft(f"add rule inet {RULES.name} way_out meta skuid 1 accept"),
    "nft: accepted before": in_nft(f"insert rule inet {RULES.name} way_out accept"),
}  # fmt: skip


QUICK = ("a rule deleted", "accepted outside before", "accepted before")


@pytest.mark.parametrize("name", [pytest.param(each, marks=() if each.endswith(QUICK) else pytest.mark.long) for each in HOLES])  # fmt: skip
def test_a_change_is_seen_and_a_put_heals_it(network: Network, name: str) -> None:
    tool = name.partition(":")[0]
    backend = next((each for each in choice.backends() if each.tool == tool), None)
    if backend is None:
        pytest.skip(f"{tool} is not installed")
    backend.put(RULES)
    HOLES[name]()
    assert backend.read(RULES) != IN_ORDER
    backend.put(RULES)
    assert backend.read(RULES) == IN_ORDER


def config(**more: object) -> configs.Config:
    uids = {name: SHUT + number for number, name in enumerate(ALL_USERS)}
    ports = configs.ports_from(9000)
    said = {"install_uid": 0, "os_separation": True, "ports": ports, "urls": {}, "users": {}, "uids": uids}
    return configs.Config(**{"install_id": "0123456789abcdef", **said, **more})  # type: ignore[arg-type]


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setattr(notes, "NOTES", tmp_path / "notes")
    (tmp_path / "state").mkdir()
    return Layout(tmp_path / "state")


def test_a_start_shuts_the_way_out_and_a_stop_opens_it_again(network: Network, layout: Layout) -> None:
    if not list(choice.backends()):
        pytest.skip(choice.NEITHER)
    before, said = ruleset(), []
    firewall = Firewall(layout, config(), said.append)
    assert firewall.start().egress_separation
    assert (configs.read(layout) or config()).egress_separation
    backend = choice.backend(firewall.report()["tool"])
    assert backend is not None
    with network.listening(THERE[0], OTHER_PORT, there=True):
        for user, uid in config().uids.items():
            assert ("ConnectionRefused" in network.attempt(uid, THERE[0], OTHER_PORT)) == (user != "connectors")
    backend.take_away(rules_of(config()))
    firewall.look()
    assert set(backend.read(rules_of(config())).values()) == {REFUSED}
    assert "were put back" in said[-1]
    firewall.stop()
    assert (ruleset(), list(notes.NOTES.iterdir())) == (before, [])


def test_rules_of_an_installation_that_was_killed_go_with_the_next_start_of_any(network: Network, layout: Layout) -> None:  # fmt: skip
    if not list(choice.backends()):
        pytest.skip(choice.NEITHER)
    before = ruleset()
    killed = Firewall(Layout(layout.state.parent / "gone"), config(install_id="fedcba9876543210"), print)
    killed._layout.state.mkdir()
    killed.start()
    said: list[str] = []
    firewall = Firewall(layout, config(), said.append)
    firewall.start()
    assert "schleuse-fedcba987654" in said[0]
    firewall.stop()
    assert ruleset() == before


def test_without_a_tool_it_runs_and_says_why(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "backends", lambda: choice.backends(lambda _: None))
    monkeypatch.setattr(keeper.os, "getuid", lambda: 0)
    firewall = Firewall(layout, config(egress_separation=True), print)
    assert not firewall.start().egress_separation
    assert firewall.report() == {"on": False, "tool": None, "why": choice.NEITHER}


def test_a_tool_without_the_right_is_said_too(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    class Powerless(Nft):
        def put(self, rules: Rules) -> None:
            raise Refused("nft says: Operation not permitted", code="firewall")

    monkeypatch.setattr(keeper, "backends", lambda: [Powerless("nft")])
    monkeypatch.setattr(keeper.os, "getuid", lambda: 0)
    firewall = Firewall(layout, config(), print)
    assert not firewall.start().egress_separation
    assert "not permitted" in firewall.why


def test_one_of_the_two_programs_alone_is_no_wall() -> None:
    assert not list(choice.backends({"iptables": "/usr/sbin/iptables"}.get))


def test_as_one_user_nobody_is_shut_in(layout: Layout) -> None:
    firewall = Firewall(layout, config(os_separation=False), print)
    assert not firewall.start().egress_separation
    assert "one OS user" in firewall.why


def test_root_and_connectors_are_never_among_those_who_are_shut_in() -> None:
    found = rules_of(config())
    assert set(found.users) == set(ALL_USERS) - {"connectors"}
    for uids in ({**config().uids, "agent": 0}, {**config().uids, "agent": config().uids["connectors"]}):
        with pytest.raises(AssertionError):
            rules_of(config(uids=uids))


def test_both_tools_are_tried_the_better_one_first() -> None:
    every = {name: f"/usr/sbin/{name}" for name in ("nft", "iptables", "iptables-restore", "ip6tables", "ip6tables-restore")}  # fmt: skip
    assert [type(each) for each in choice.backends(every.get)] == [Nft, Iptables]


def test_a_user_that_can_log_in_is_somebodys_and_is_left_alone(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    shells = {uid: "/bin/bash" if name == "agent" else NO_LOGIN for name, uid in config().uids.items()}
    entries = [pwd.struct_passwd((str(uid), "x", uid, uid, "", "/", shell)) for uid, shell in shells.items()]
    monkeypatch.setattr(rules.pwd, "getpwall", lambda: entries)
    monkeypatch.setattr(rules.pwd, "getpwuid", lambda uid: next(each for each in entries if each.pw_uid == uid))
    monkeypatch.setattr(keeper.os, "getuid", lambda: 0)
    firewall = Firewall(layout, config(), print)
    assert not firewall.start().egress_separation
    assert "agent" in firewall.why
    assert "site" not in firewall.why
