"""Names are resolved once for a call, all their addresses checked, and what was checked is what is dialled (rule 26)."""

import asyncio
import socket
from contextlib import suppress
from ipaddress import ip_address

from services.connectors.egress.addresses import Address, Network, why_shut
from services.connectors.egress.hosts import canonical_host, host_key, permits
from services.connectors.egress.resolver import Resolver
from shared.errors import Refused, Transient

CONNECT_S = 10.0
MOST_ADDRESSES = 6


class Dialler:
    """Of one call. `reached` grows with each connection."""

    def __init__(self, allow_list: tuple[str, ...], listed: tuple[Network, ...], resolver: Resolver) -> None:
        self._allow_list, self._listed, self._resolver = allow_list, listed, resolver
        self._pins: dict[str, tuple[Address, ...]] = {}
        self._resolving = asyncio.Lock()
        self.reached: tuple[str, ...] = ()

    async def dial(self, host: str, port: int, timeout_s: float | None = None) -> socket.socket:
        """A connected, non-blocking socket. Refused (code `egress`), Transient (codes `unresolved`, `unreachable`)."""
        name = self.permitted(host, port)
        key = host_key(name, port)
        return await self._connect(key, port, await self._pinned(key, name), min(timeout_s or CONNECT_S, CONNECT_S))

    def permitted(self, host: str, port: int) -> str:
        """The host as it is dialled. Refused when the connector's list does not have it."""
        key = host_key(host, port)
        if not permits(self._allow_list, key):
            raise shut(f"{key} is not on the connector's list of hosts")
        return canonical_host(host)

    async def _pinned(self, key: str, host: str) -> tuple[Address, ...]:
        """One address that may not be dialled shuts the name: an answer that mixes both is how names are rebound."""
        async with self._resolving:
            if host not in self._pins:
                self._pins[host] = await self._addresses(host)
        found = self._pins[host]
        for address in found:
            if why := why_shut(address, self._listed):
                leads = key if str(address) in key else f"{key} leads to {address}"
                raise shut(f"{leads}: {why}, and the connector does not list it")
        return found

    async def _addresses(self, host: str) -> tuple[Address, ...]:
        with suppress(ValueError):
            return (ip_address(host),)
        return await self._resolver.addresses(host)

    async def _connect(self, key: str, port: int, found: tuple[Address, ...], timeout_s: float) -> socket.socket:
        """Each in turn; all together have the time."""
        until = asyncio.get_running_loop().time() + timeout_s
        for index, address in enumerate(tried := found[:MOST_ADDRESSES]):
            left = until - asyncio.get_running_loop().time()
            try:
                connected = await _open(address, port, left / (len(tried) - index))
            except (OSError, TimeoutError):
                continue
            self.reached = (*self.reached, f"{key} [{address}]")
            return connected
        raise Transient(
            f"{key} cannot be reached: it is down, or something in between shuts it off; try again later",
            code="unreachable",
        )


def shut(reason: str) -> Refused:
    return Refused(
        f"the way out is shut: {reason}; an owner or admin can change the connector's settings in the console",
        code="egress",
    )


async def _open(address: Address, port: int, timeout_s: float) -> socket.socket:
    made = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    connected = False
    try:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(timeout_s):
            await asyncio.get_running_loop().sock_connect(made, (str(address), port))
        connected = True
    finally:
        if not connected:
            made.close()
    return made
