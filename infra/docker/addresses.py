"""Who has which address. Fixed, because an internal network needs no name server, and what cannot be asked leaks nothing.

One network per front (nginx and that one service), so that surfaces cannot reach each other's pages; one for the bus.
"""

BUS, CONSOLE, SITE, WORKSPACE, EDGE, OUTWARD, TRACING = range(7)
FRONT_NETWORKS = {"console": CONSOLE, "site": SITE, "workspace": WORKSPACE}
NGINX, SERVICE = 2, 3
"""On each front's network."""

ON_THE_BUS = {
    "nats": 10,
    "nats-2": 11,
    "nats-3": 12,
    "agent": 21,
    "console": 22,
    "site": 23,
    "connectors": 24,
    "bridge": 25,
    "keeper": 30,
    "operator": 40,
    "otel": 50,
}
NATS_SERVERS = ("nats", "nats-2", "nats-3")


def on_the_bus(net: str, part: str) -> str:
    return f"{net}.{BUS}.{ON_THE_BUS[part]}"


def fronts(net: str) -> dict[str, str]:
    """Where each front listens: on the network that it shares with nginx, nowhere else."""
    return {front: f"{net}.{number}.{SERVICE}" for front, number in FRONT_NETWORKS.items()}


def proxies(net: str) -> list[str]:
    """The addresses from which nginx comes."""
    return [f"{net}.{number}.{NGINX}" for number in FRONT_NETWORKS.values()]
