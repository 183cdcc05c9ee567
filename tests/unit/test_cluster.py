"""What makes a cluster, without one: its parts and ports, who may be asked to stand, what fits into a notice."""

import pytest

from infra.local import config
from infra.local.instances import base_of, is_service, number_of, parts, services
from infra.nats import certificate
from infra.nats.pace import _group
from infra.observe.doing.session import AT_ONCE, slot
from infra.postgres.settings import CONNECTION_LIMIT, SETTINGS
from shared.db.engine import POOL, POOL_OF_SEVERAL
from shared.db.notices import MOST_BYTES, bundles
from shared.errors import Refused
from shared.settings import DATABASES


def about(state: str, leader: str = "", term: int = 3) -> dict[str, object]:
    peers = {f"id-{number}": {"name": f"nats-{number}"} for number in (1, 2, 3)}
    return {"id": "", "state": state, "leader": leader, "term": term, "applied": 7, "peers": peers}


def member(number: int, state: str, leader: str = "", term: int = 3) -> tuple[str, dict[str, object]]:
    return f"nats-{number}", about(state, leader, term) | {"id": f"id-{number}"}


def test_a_cluster_has_three_servers_of_the_bus_and_two_instances_of_each_service() -> None:
    assert [part for part in parts(cluster=True) if base_of(part) == "nats"] == ["nats", "nats-2", "nats-3"]
    assert all(f"{service}-2" in services(cluster=True) for service in services(cluster=False))
    assert (number_of("bridge-2"), number_of("bridge"), is_service("nats-3")) == (2, 1, False)


def test_the_ports_of_a_cluster_follow_those_of_a_single_system() -> None:
    ports = config.ports_from(9000, cluster=True)
    assert sorted(ports.values()) == list(range(9000, 9009))
    assert config.ports_from(9000).items() <= ports.items()


@pytest.mark.parametrize("made", [True, False])
def test_what_the_first_start_chose_stays(made: bool) -> None:
    found = config.Config.model_construct(cluster=made)
    assert config.cluster_of(found, None) is made
    assert config.cluster_of(found, made) is made
    with pytest.raises(Refused, match="backup"):
        config.cluster_of(found, not made)
    assert config.cluster_of(None, None) is False


def test_a_group_whose_leader_ended_is_leaderless() -> None:
    answers = [member(1, "FOLLOWER", "id-2"), member(3, "FOLLOWER", "id-2", term=4)]
    found = _group("g", answers, {"nats-2"})
    assert (found.leader, found.term) == (None, 4)


def test_a_leader_that_was_only_slow_to_answer_is_left_alone() -> None:
    assert _group("g", [member(1, "FOLLOWER", "id-2"), member(3, "FOLLOWER", "id-2")], ()).leader == "nats-2"
    assert _group("g", [member(1, "LEADER"), member(3, "FOLLOWER", "id-1")], {"nats-2"}).leader == "nats-1"


def test_a_group_that_never_had_a_leader_is_asked() -> None:
    assert _group("g", [member(1, "FOLLOWER"), member(2, "FOLLOWER"), member(3, "CANDIDATE")], ()).leader is None


def test_notices_are_bundled_up_to_what_postgres_takes() -> None:
    small = [f'["t",{number}]' for number in range(2000)]
    found = bundles(small)
    assert ",".join(found) == ",".join(small)
    assert all(len(each.encode()) <= MOST_BYTES for each in found)
    assert bundles(["x" * (MOST_BYTES + 1), '["t",1]']) == ['["t",1]']


def test_a_certificate_holds_the_names_of_other_hosts() -> None:
    public = certificate.make(("nats-2", "10.0.0.7"))[0].encode()
    assert certificate.serves(public, ("nats-2", "10.0.0.7", "localhost"))
    assert not certificate.serves(public, ("nats-3",))


def test_two_instances_of_a_service_and_whoever_looks_fit_into_its_role() -> None:
    """The agent holds the most: its pool, the relay's lock, notices, the lease of its tasks. Both look on with AT_ONCE more, and one needs one to start."""
    held = 2 * (POOL_OF_SEVERAL + 3)
    assert held + AT_ONCE + 1 < CONNECTION_LIMIT
    assert POOL + 3 + AT_ONCE + 1 <= CONNECTION_LIMIT
    assert len(DATABASES) * CONNECTION_LIMIT + int(SETTINGS["superuser_reserved_connections"]) < int(
        SETTINGS["max_connections"]
    )
    assert slot("agent") is slot("agent") is not slot("site")
