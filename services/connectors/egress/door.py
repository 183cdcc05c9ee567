"""The door: every way out of this machine begins here."""

import socket
import ssl

import httpx2

from services.connectors.egress.addresses import networks
from services.connectors.egress.dialling import Dialler
from services.connectors.egress.keeping import Kept, Lent
from services.connectors.egress.resolver import Resolver, resolver
from services.connectors.egress.transport import MOST_KEPT, GuardedTransport
from services.connectors.egress.way import Way
from shared.settings import Settings


class Door:
    """One for a process: its TLS contexts are read once. `kept`: HTTP connections are shared by calls through one connector for some seconds."""

    def __init__(self, settings: Settings, kept: Kept | None = None) -> None:
        self._kept = kept
        self._resolver = resolver(settings.dns_servers)
        self._for_http, self._for_others = (_context(settings) for _ in range(2))

    def way(self, hosts: tuple[str, ...], addresses: tuple[str, ...]) -> Way:
        """`hosts`: a canonical allow-list (see hosts.allow_list); `addresses`: as the connector lists them. Refused (code `address`)."""
        return _GuardedWay(hosts, addresses, self._resolver, self._for_http, self._for_others, self._kept)


class _GuardedWay:
    def __init__(
        self,
        hosts: tuple[str, ...],
        addresses: tuple[str, ...],
        names: Resolver,
        for_http: ssl.SSLContext,
        for_others: ssl.SSLContext,
        kept: Kept | None,
    ) -> None:
        self._key, self._names, self._kept = (hosts, addresses), names, kept
        self._lent: list[Lent] = []
        self._dialler = self._new_dialler()
        self._for_http, self._for_others = for_http, for_others

    def _new_dialler(self) -> Dialler:
        hosts, addresses = self._key
        return Dialler(hosts, networks(addresses), self._names)

    def http(self) -> httpx2.AsyncBaseTransport:
        if self._kept is None:
            return GuardedTransport(self._dialler, self._for_http)
        lent = self._kept.lend(self._key, lambda: GuardedTransport(self._new_dialler(), self._for_http, MOST_KEPT))
        self._lent.append(lent)
        return lent

    async def dial(self, host: str, port: int) -> socket.socket:
        return await self._dialler.dial(host, port)

    def tls(self) -> ssl.SSLContext:
        return self._for_others

    @property
    def reached(self) -> tuple[str, ...]:
        return (*self._dialler.reached, *(place for lent in self._lent for place in lent.reached))


def _context(settings: Settings) -> ssl.SSLContext:
    """The system's authorities, and those in `outward_ca` where config.json names a file. The HTTP library sets its own protocol names in its one."""
    made = httpx2.create_ssl_context(trust_env=False)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.outward_ca is not None:
        made.load_verify_locations(settings.outward_ca)
    return made
