"""The one connection of a service to the bus: TLS with the pinned certificate, an nkey, an inbox of its own."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from shared.bus.wire import LeanClient
from shared.health import Health
from shared.settings import Settings

log = structlog.get_logger()


API_PREFIX = "HUB.API"
"""Where a service finds the JetStream API: the streams lie in an account of their own, and every service imports its part."""


def pinned(settings: Settings) -> ssl.SSLContext:
    """Trusts the installation's own certificate and nothing else (S9)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_verify_locations(cafile=str(settings.nats_ca))
    return context


class Connection:
    """Connects, and connects again for ever. Tells health what it is and what the server refuses."""

    def __init__(self, settings: Settings, health: Health, inbox_prefix: str | None = None) -> None:
        self._settings = settings
        self._health = health
        self._inbox = inbox_prefix or f"_INBOX_{settings.service}"
        self._client: Client | None = None
        self.reconnected: list[Callable[[], None]] = []

    @property
    def client(self) -> Client:
        if self._client is None:
            raise RuntimeError("the bus is not connected yet")
        return self._client

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def start(self) -> None:
        """Return when connected; waits as long as it takes."""
        self._health.set("bus", False, "connecting")
        while self._client is None:
            try:
                client = LeanClient()
                await client.connect(**self._options())
                self._client = client
            except (NatsError, OSError, TimeoutError) as error:
                self._health.set("bus", False, f"not reachable: {error}")
                await asyncio.sleep(0.3)
        self._health.set("bus", True, "connected")

    def _options(self) -> dict[str, Any]:
        settings = self._settings
        return {
            "servers": settings.nats_urls,
            "name": settings.service,
            "tls": pinned(settings),
            "tls_hostname": "localhost",
            # without it the library follows a server that says it has no TLS into the clear (S9)
            "tls_handshake_first": True,
            "nkeys_seed": str(settings.bus_seed),
            "inbox_prefix": self._inbox.encode(),
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.2,
            "connect_timeout": 5,
            "ping_interval": 10,
            "max_outstanding_pings": 2,
            "allow_reconnect": True,
            "pending_size": 16 * 1024 * 1024,
            "error_cb": self._on_error,
            "disconnected_cb": self._on_disconnected,
            "reconnected_cb": self._on_reconnected,
        }

    async def _on_error(self, error: Exception) -> None:
        text = str(error)
        if "permissions violation" in text.lower():
            log.critical("bus.permission_violation", error=text)
            self._health.set("bus_permissions", False, text)
        elif text:
            log.warning("bus.error", error=text)

    async def _on_disconnected(self) -> None:
        self._health.set("bus", False, "connection lost; trying again")

    async def _on_reconnected(self) -> None:
        self._health.set("bus", True, "connected")
        for action in self.reconnected:
            action()

    async def stop(self) -> None:
        if self._client is not None and not self._client.is_closed:
            await self._client.close()
