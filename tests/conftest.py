"""Real servers for everything about delivery.

`servers`: Postgres and NATS, provisioned, no services (dev mode, see shared.testing.servers); `postgres` and `nats` are the same pair under the name of what a
test is about. `stack`: the whole product as `schleuse up --detach --wait` starts it. All live for the session; tests keep apart by their own ids and names.
"""

from collections.abc import Iterator

import pytest

from shared.testing.servers import Servers, running
from tests.factories import leaks
from tests.factories.cluster import running_cluster
from tests.factories.people import Person, become_owner
from tests.factories.stack import Stack, running_stack
from tests.factories.waiting import until


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def postgres(servers: Servers) -> Servers:
    return servers


@pytest.fixture(scope="session")
def nats(servers: Servers) -> Servers:
    return servers


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """At the end nothing that tests planted as a secret's value may have been written down anywhere."""
    with running_stack() as found:
        yield found
        if leaks.planted:
            until(found.ready, 60, "everything is ready for the hunt")
            assert leaks.hunt(found) == []


@pytest.fixture(scope="session")
def cluster() -> Iterator[Stack]:
    """The same as `schleuse up --cluster` starts it: three servers of the bus, two instances of every service."""
    with running_cluster() as found:
        yield found


@pytest.fixture(scope="session")
def owner(stack: Stack) -> Person:
    """The first owner, signed in at the console over plain HTTP."""
    return become_owner(stack)
