"""Names to addresses: by the system, or by the name servers that config.json lists as `dns_servers`."""

import asyncio
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from typing import Protocol

import dns.asyncresolver
import dns.exception
import dns.nameserver

from services.connectors.egress.addresses import Address
from services.connectors.egress.hosts import allow_list
from shared.errors import Refused, Transient

PATIENCE_S = 5.0
DNS_PORT = 53
THREADS = 16


class Resolver(Protocol):
    async def addresses(self, host: str) -> tuple[Address, ...]:
        """All of them, the best first. Transient (code `unresolved`) when there is none."""
        ...


class SystemResolver:
    """getaddrinfo, in threads of its own: a slow name server holds up nothing but names."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="names")

    async def addresses(self, host: str) -> tuple[Address, ...]:
        ask = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        try:
            async with asyncio.timeout(PATIENCE_S):
                found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except (OSError, UnicodeError, TimeoutError):
            raise unresolved(host) from None
        return _each_once(str(each[4][0]) for each in found)


class ServerResolver:
    """Asks the given name servers, `address` or `address:port`; no hosts file, no search domains."""

    def __init__(self, servers: tuple[str, ...]) -> None:
        self._resolver = dns.asyncresolver.Resolver(configure=False)
        self._resolver.nameservers = [_server(each) for each in servers]
        self._resolver.lifetime = PATIENCE_S

    async def addresses(self, host: str) -> tuple[Address, ...]:
        answers = await asyncio.gather(*(self._ask(host, kind) for kind in ("A", "AAAA")))
        if not (found := _each_once(text for answer in answers for text in answer)):
            raise unresolved(host)
        return found

    async def _ask(self, host: str, kind: str) -> list[str]:
        try:
            answer = await self._resolver.resolve(f"{host}.", kind, search=False, raise_on_no_answer=False)
        except (dns.exception.DNSException, OSError):
            return []
        return [record.address for record in answer.rrset or ()]


def resolver(servers: tuple[str, ...]) -> Resolver:
    return ServerResolver(servers) if servers else SystemResolver()


def unresolved(host: str) -> Transient:
    return Transient(
        f"{host} has no address: check how it is written, and whether this machine's name server answers",
        code="unresolved",
    )


def _server(text: str) -> dns.nameserver.Do53Nameserver:
    """`address`, `address:port` or `[IPv6]:port`. Refused (code `dns_servers`)."""
    try:
        address, _, port = allow_list((text,), DNS_PORT)[0].rpartition(":")
        return dns.nameserver.Do53Nameserver(str(ip_address(address.strip("[]"))), int(port))
    except (Refused, ValueError):
        raise Refused(
            f"dns_servers in config.json lists {text!r}; write an address or address:port", code="dns_servers"
        ) from None


def _each_once(texts: Iterable[str]) -> tuple[Address, ...]:
    return tuple(dict.fromkeys(ip_address(text.partition("%")[0]) for text in texts))
