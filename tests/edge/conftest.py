"""nginx in front of a service that the test shapes, and in front of the whole product."""

from collections.abc import Iterator

import pytest

from tests.factories.edge import NAMES, NGINX, Behind, Gate, behind, running_edge, two_ports
from tests.factories.people import OWNER, PASSWORD, Person
from tests.factories.stack import Stack, running_stack


@pytest.fixture(scope="session", autouse=True)
def nginx_is_there() -> None:
    if NGINX is None:
        pytest.skip("nginx is missing (Debian: apt-get install nginx-light); `make test` installs it where it may")


@pytest.fixture(scope="module")
def made_up() -> Iterator[tuple[Gate, Behind]]:
    """nginx before one server that plays all three services."""
    with behind() as server, running_edge(dict.fromkeys(NAMES, (server.address,)), two_ports()) as gate:
        yield gate, server


@pytest.fixture(scope="session")
def fronted() -> Iterator[tuple[Gate, Stack]]:
    """The product behind nginx: started with the addresses that people type, and with nginx as the proxy that it believes."""
    port = two_ports()
    with running_stack(public={name: f"https://{host}:{port}" for name, host in NAMES.items()}) as stack:
        ports = stack.ports()
        upstreams = {
            "console": (f"127.0.0.1:{ports['console']}",),
            "site": (f"127.0.0.1:{ports['site']}",),
            "workspace": (f"127.0.0.2:{ports['workspace']}",),
        }
        with running_edge(upstreams, port) as gate:
            yield gate, stack


@pytest.fixture(scope="session")
def boss(fronted: tuple[Gate, Stack]) -> Person:
    """The first owner, who came through nginx."""
    gate, stack = fronted
    owner = Person(gate.urls["console"], OWNER)
    owner.http.close()
    owner.http = gate.client("console")
    assert stack.owner_link is not None
    path = stack.owner_link.removeprefix(owner.base)
    answer = owner.send(path, path, name="Ada Owner", handle=OWNER, password=PASSWORD, again=PASSWORD)
    assert answer.status_code == 303, answer.text[-1000:]
    return owner
