"""nginx in front of a service that the test shapes, and in front of the whole product."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.factories.edge import NAMES, Behind, Gate, Past, behind, running_edge, two_ports
from tests.factories.people import OWNER, PASSWORD, Person
from tests.factories.stack import Stack, running_stack


@pytest.fixture(scope="module")
def made_up() -> Iterator[tuple[Gate, Behind]]:
    """nginx before one server that plays all three services."""
    with behind() as server, running_edge(dict.fromkeys(NAMES, (server.address,)), two_ports()) as gate:
        yield gate, server


@pytest.fixture(scope="session")
def product() -> Iterator[tuple[Stack, int]]:
    """The product as it runs behind a proxy: started with the addresses that people type, and the port that they name."""
    port = two_ports()
    with running_stack(public={name: f"https://{host}:{port}" for name, host in NAMES.items()}) as stack:
        yield stack, port


@pytest.fixture(scope="session")
def fronted(product: tuple[Stack, int]) -> Iterator[tuple[Gate, Stack]]:
    """nginx in front of the product, as the one proxy that it believes."""
    stack, port = product
    ports = stack.ports()
    hosts = {"console": "127.0.0.1", "site": "127.0.0.1", "workspace": "127.0.0.2"}
    with running_edge(
        {name: (f"{host}:{ports[name]}",) for name, host in hosts.items()}, port, layout=stack.layout
    ) as gate:
        yield gate, stack


@pytest.fixture(scope="session")
def boss(product: tuple[Stack, int]) -> Iterator[Person]:
    """The first owner, straight at the console."""
    stack, _ = product
    owner = Person(stack.urls["console"], OWNER)
    owner.http.close()
    with httpx2.Client(base_url=owner.base, transport=Past(stack.ports()["console"]), timeout=30) as owner.http:
        assert stack.owner_link is not None
        path = stack.owner_link.removeprefix(owner.base)
        answer = owner.send(path, path, name="Ada Owner", handle=OWNER, password=PASSWORD, again=PASSWORD)
        assert answer.status_code == 303, answer.text[-1000:]
        yield owner


@pytest.fixture(scope="session")
def guest(fronted: tuple[Gate, Stack], boss: Person) -> Person:
    """The same owner in another browser, through nginx."""
    gate, _ = fronted
    person = Person(boss.base, boss.handle)
    person.http.close()
    person.http = gate.client("console")
    assert person.sign_in().status_code == 303
    return person
