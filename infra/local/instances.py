"""Which processes there are: one of each, or, in a cluster, three servers of the bus and two instances of every service.

A part's name is what it runs, with the number of every instance after the first: `bridge`, `bridge-2`, `nats-3`.
"""

from infra.local.layout import APPS, PARTS
from schemas.catalogue import SERVICES

SERVERS = 3
INSTANCES = 2
SERVICE_ORDER = ("bridge", "console", "site", "agent", "connectors")


def named(base: str, number: int) -> str:
    return base if number == 1 else f"{base}-{number}"


def base_of(part: str) -> str:
    return part.partition("-")[0]


def number_of(part: str) -> int:
    return int(part.partition("-")[2] or 1)


def is_service(part: str) -> bool:
    return base_of(part) in SERVICES


def bus_parts(*, cluster: bool) -> tuple[str, ...]:
    return tuple(named("nats", number) for number in range(1, (SERVERS if cluster else 1) + 1))


def servers(*, cluster: bool) -> tuple[str, ...]:
    return ("postgres", *bus_parts(cluster=cluster))


def services(*, cluster: bool) -> tuple[str, ...]:
    """The first of each, then the second of each: a first start makes its tables once."""
    numbers = range(1, (INSTANCES if cluster else 1) + 1)
    return tuple(named(service, number) for number in numbers for service in SERVICE_ORDER)


def parts(*, cluster: bool) -> tuple[str, ...]:
    """Everything the supervisor runs, in the order of starting."""
    return (*servers(cluster=cluster), *services(cluster=cluster), APPS) if cluster else PARTS
