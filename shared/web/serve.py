"""Uvicorn inside a service's own loop: no signal handlers, no access log, a bounded stop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn

from shared.errors import Refused
from shared.web.protocol import BoundedProtocol, sweep


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The service stops this server in its own order; uvicorn must not take the signals."""
        yield


class HttpServer:
    """One ASGI app on a TCP address or a Unix socket."""

    def __init__(
        self,
        app: Any,
        *,
        host: str = "",
        port: int = 0,
        path: Path | None = None,
        grace: float = 3.0,
        closing: Callable[[], None] | None = None,
        shared: bool = False,
    ) -> None:
        """`shared`: several instances listen on the port, and the kernel deals connections out to them."""
        self._host, self._port, self._path, self._shared = host, port, path, shared
        self._closing = closing
        self._server = _Server(
            uvicorn.Config(
                app,
                loop="none",
                http=BoundedProtocol,
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=True,
                proxy_headers=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=int(grace),
                h11_max_incomplete_event_size=64 * 1024,
            )
        )
        self._task: asyncio.Task[None] | None = None
        self._sweep: asyncio.Task[None] | None = None

    @property
    def answered(self) -> int:
        """Requests since the start."""
        return self._server.server_state.total_requests

    async def start(self) -> None:
        """Returns when it listens. Refused when the port is taken."""
        sock = self._bind()
        self._task = asyncio.create_task(self._server.serve(sockets=[sock]), name="http")
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise Refused("the HTTP server ended at once")
            await asyncio.sleep(0.01)
        self._sweep = asyncio.create_task(sweep(self._server.server_state.connections), name="late requests")

    def _bind(self) -> socket.socket:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.bind(str(self._path))
            self._path.chmod(0o666)
            return sock
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self._shared:  # only processes of the same OS user can join: the kernel requires it
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            sock.bind((self._host, self._port))
        except OSError as error:
            raise Refused(
                f"port {self._port} on {self._host} is taken ({error}); choose another with --port-base"
            ) from error
        return sock

    async def stop(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        self._server.should_exit = True
        if self._closing is not None:
            self._closing()
        if self._task is not None:
            await self._task
        if self._path is not None:
            self._path.unlink(missing_ok=True)
