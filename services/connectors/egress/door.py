"""The door: every way out of this machine begins here."""

import socket
import ssl

import httpx2

from services.connectors.egress.addresses import networks
from services.connectors.egress.dialling import Dialler
from services.connectors.egress.resolver import Resolver, resolver
from services.connectors.egress.transport import GuardedTransport
from services.connectors.egress.way import Way
from shared.settings import Settings


class Door:
    """One for a process: its TLS contexts are read once."""

    def __init__(self, settings: Settings) -> None:
        self._resolver = resolver(settings.dns_servers)
        self._for_http, self._for_others = (_context(settings) for _ in range(2))

    def way(self, hosts: tuple[str, ...], addresses: tuple[str, ...]) -> Way:
        """`hosts`: a canonical allow-list (see hosts.allow_list); `addresses`: as the connector lists them. Refused (code `address`)."""
        return _GuardedWay(hosts, addresses, self._resolver, self._for_http, self._for_others)


class _GuardedWay:
    def __init__(
        self,
        hosts: tuple[str, ...],
        addresses: tuple[str, ...],
        names: Resolver,
        for_http: ssl.SSLContext,
        for_others: ssl.SSLContext,
    ) -> None:
        self._dialler = Dialler(hosts, networks(addresses), names)
        self._for_http, self._for_others = for_http, for_others

    def http(self) -> httpx2.AsyncBaseTransport:
        return GuardedTransport(self._dialler, self._for_http)

    async def dial(self, host: str, port: int) -> socket.socket:
        return await self._dialler.dial(host, port)

    def tls(self) -> ssl.SSLContext:
        return self._for_others

    @property
    def reached(self) -> tuple[str, ...]:
        return self._dialler.reached


def _context(settings: Settings) -> ssl.SSLContext:
    """The system's authorities, and those in `outward_ca` where config.json names a file. The HTTP library sets its own protocol names in its one."""
    made = httpx2.create_ssl_context(trust_env=False)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.outward_ca is not None:
        made.load_verify_locations(settings.outward_ca)
    return made
