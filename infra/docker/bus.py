"""Where each server of the bus listens, and which others it knows, from config.json alone."""

from pathlib import Path
from urllib.parse import urlsplit

from infra.local.config import Config
from infra.nats.config import Place, Routes

STATE = Path("/state")
ROUTE_PORT = 6222


def places(config: Config) -> dict[str, Place]:
    """By container: `nats`, in a cluster also `nats-2` and `nats-3`. Each sees its own volume under the same path."""
    hosts = [urlsplit(server).hostname or "" for server in config.nats_servers]
    return {_name(number): _place(config, hosts, number) for number in range(1, len(hosts) + 1)}


def _name(number: int) -> str:
    return "nats" if number == 1 else f"nats-{number}"


def _place(config: Config, hosts: list[str], number: int) -> Place:
    host = hosts[number - 1]
    peers = tuple(f"{each}:{ROUTE_PORT}" for each in hosts if each != host)
    return Place(
        config.ports["nats"],
        STATE / "nats" / "js",
        STATE / "tls" / "ca.pem",
        STATE / "tls" / "nats.key",
        name=_name(number) if peers else "schleuse",
        host=host,
        routes=Routes(ROUTE_PORT, peers) if peers else None,
    )
