"""HTTP over dialled sockets: httpx2's transport, whose every connection the guard makes."""

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from services.connectors.egress.dialling import Dialler
from services.connectors.egress.hosts import PORTS, Target, host_key
from services.connectors.egress.stream import SocketStream
from shared.errors import Refused

MOST_CONNECTIONS = 4
"""Of one call."""
MOST_KEPT = 200
"""Of all calls to one connector's hosts."""
IDLE_S = 2.0
"""Servers end idle connections after five seconds or more; one that ends while it is used again would cost a call."""


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Follows nothing, asks no proxy, reads no environment."""

    def __init__(self, dialler: Dialler, context: ssl.SSLContext, most: int = MOST_CONNECTIONS) -> None:
        super().__init__(verify=context, trust_env=False)
        self._dialler = dialler
        self._pool = _Pool(
            ssl_context=context,
            network_backend=_Guarded(dialler),
            max_connections=most,
            keepalive_expiry=IDLE_S,
        )

    @property
    def reached(self) -> tuple[str, ...]:
        return self._dialler.reached

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Refused (code `egress`) before anything is dialled where the host is not on the list, also on a connection that is open already."""
        scheme = request.url.scheme
        if scheme not in PORTS:
            raise Refused(f"the scheme {scheme}: is neither http nor https", code="url")
        host = self._dialler.permitted(request.url.host, request.url.port or PORTS[scheme])
        target = Target(scheme, host, request.url.port or PORTS[scheme], "/")
        others = [(name, value) for name, value in request.headers.raw if name.lower() != b"host"]
        checked = httpx2.Request(
            request.method,
            request.url.copy_with(host=host),
            headers=[(b"Host", target.authority.encode()), *others],
            stream=request.stream,
            extensions={name: value for name, value in request.extensions.items() if name == "timeout"},
        )
        return await super().handle_async_request(checked)


class _Connection(httpcore2.AsyncHTTPConnection):
    """Not used again once it holds more than the answer that was asked for: the rest would be taken for that of the next call, which may be another owner's."""

    def has_expired(self) -> bool:
        return super().has_expired() or self._holds_more()

    def _holds_more(self) -> bool:
        used = self._connection
        if not isinstance(used, httpcore2.AsyncHTTP11Connection) or not used.is_idle():
            return False
        rest, _ = used._h11_state.trailing_data
        return bool(rest)


class _Pool(httpcore2.AsyncConnectionPool):
    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.AsyncConnectionInterface:
        return _Connection(
            origin=origin,
            ssl_context=self._ssl_context,
            keepalive_expiry=self._keepalive_expiry,
            network_backend=self._network_backend,
        )


class _Guarded(httpcore2.AsyncNetworkBackend):
    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        connected = await self._dialler.dial(host, port, timeout)
        return await SocketStream.over(connected, f"{host_key(host, port)} [{connected.getpeername()[0]}]")

    async def connect_unix_socket(self, path: str, *_: object, **__: object) -> httpcore2.AsyncNetworkStream:
        raise Refused("the way out leads to hosts only", code="egress")
