"""What a connector gets to reach others with: nothing else opens a connection."""

import socket
import ssl
from typing import Protocol

import httpx2


class Way(Protocol):
    """The way out of one call, shut to all but the connector's allow-list.

    Refused (code `egress`) says which rule shut it; Refused (code `certificate`): the other side is not who it should be; Transient (codes
    `unresolved`, `unreachable`, `tls`): no address, no connection, no handshake. Never anything of a URL, which may carry a key.
    """

    def http(self) -> httpx2.AsyncBaseTransport:
        """A transport that follows no redirect, pins the address that it checked, and verifies TLS for the name. Close it.

        The Host header is that of the URL, whatever the request says; of the request's extensions only `timeout` counts.
        """
        ...

    async def dial(self, host: str, port: int) -> socket.socket:
        """A connected, non-blocking socket to the pinned address. TLS is the caller's, with `tls()` and `host` as the server's name."""
        ...

    def tls(self) -> ssl.SSLContext:
        """Verifies names and chains; TLS 1.2 or newer."""
        ...

    @property
    def reached(self) -> tuple[str, ...]:
        """What was dialled, `host:port [address]`, for the audit."""
        ...
