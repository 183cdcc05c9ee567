"""What docker-compose.yml tells `setup`: names that people type, the port, the first half of the networks' addresses, the profiles that are on."""

import os
from dataclasses import dataclass

from shared.errors import Refused

PREFIX = "SCHLEUSE_"
DEFAULTS = {
    "CONSOLE_HOST": "console.localhost",
    "SITE_HOST": "site.localhost",
    "WORKSPACE_HOST": "workspace.localhost",
    "PORT": "8443",
    "NET": "10.84",
    "PROFILES": "",
}
"""The same as in docker-compose.yml; a test compares them."""


@dataclass(frozen=True)
class Asked:
    """`hosts`: by front. `net`: two numbers, as in 10.84; every network of the file begins with them."""

    hosts: dict[str, str]
    port: int
    net: str
    profiles: frozenset[str]

    @property
    def urls(self) -> dict[str, str]:
        tail = "" if self.port == 443 else f":{self.port}"
        return {front: f"https://{host}{tail}" for front, host in self.hosts.items()}


def asked() -> Asked:
    """Refused for what cannot be meant."""
    given = {name: os.environ.get(PREFIX + name) or default for name, default in DEFAULTS.items()}
    hosts = {front: given[f"{front.upper()}_HOST"].lower() for front in ("console", "site", "workspace")}
    if len(set(hosts.values())) != len(hosts):
        raise Refused(
            "SCHLEUSE_CONSOLE_HOST, SCHLEUSE_SITE_HOST and SCHLEUSE_WORKSPACE_HOST must differ: cookies ignore ports (S8)"
        )
    if not given["PORT"].isdigit() or not 0 < int(given["PORT"]) < 65536:
        raise Refused(f"SCHLEUSE_PORT must be a port, not {given['PORT']!r}")
    numbers = given["NET"].split(".")
    if len(numbers) != 2 or not all(each.isdigit() and int(each) < 256 for each in numbers):
        raise Refused(f"SCHLEUSE_NET must be the first two numbers of an address, as in 10.84, not {given['NET']!r}")
    profiles = frozenset(filter(None, given["PROFILES"].replace(" ", "").split(",")))
    return Asked(hosts, int(given["PORT"]), given["NET"], profiles)
