"""Starts a process for each connection of the console, and ends it when the connection ends.

    python -m infra.apps.host --state DIR

Runs as OS user `apps`. The connection itself is handed to the process, so what an app is asked and answers never passes here. Who is no console
is let in nowhere; a process that outlives its connection by a moment is killed, whatever it is doing.
"""

import argparse
import asyncio
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from infra.apps import landlock, seccomp

MOST = 40
"""Processes at once: a page's and a job's for each app, of two consoles, and some that are just ending."""
DEADLINE = 3700.0
"""Seconds that a process lives at most: a job's hour (rule 31) and some for its end."""


class Host:
    def __init__(self, state: Path) -> None:
        self.state, self.run = state, state / "run" / "apps"
        config = json.loads((state / "config.json").read_text())
        self._console = int(config["uids"]["console"])
        self._epoll = select.epoll()
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.started = 0

    async def serve(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._epoll.fileno(), self._hang_ups)
        listening = _listen(self.run / "apps.sock", 0o666)
        health = await asyncio.start_unix_server(self._tell, sock=_listen(self.run / "health.sock", 0o666))
        try:
            while True:
                connection, _ = await loop.sock_accept(listening)
                task = asyncio.create_task(self._admit(connection))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            health.close()
            listening.close()
            for process in self._running.values():
                _kill(process)

    async def _admit(self, connection: socket.socket) -> None:
        with connection:
            if _peer(connection) != self._console or len(self._running) >= MOST:
                return
            await self._run_one(connection)

    async def _run_one(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        handle = connection.fileno()
        command = (sys.executable, "-B", "-m", "infra.apps.worker", "--fd", str(handle))
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, pass_fds=(handle,), stdin=quiet, stdout=quiet)
        self.started += 1
        self._running[handle] = process
        self._epoll.register(handle, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLONESHOT)
        try:
            async with asyncio.timeout(DEADLINE):
                await process.wait()
        except TimeoutError:
            _kill(process)
            await process.wait()
        finally:
            self._epoll.unregister(handle)
            del self._running[handle]
            if process.returncode not in (0, -signal.SIGKILL):
                sys.stderr.write(f"a process of an app ended with code {process.returncode}\n")

    def _hang_ups(self) -> None:
        for handle, _ in self._epoll.poll(0):
            if handle in self._running:
                _kill(self._running[handle])

    async def _tell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """/ready and /health, as every part answers them."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(5):
                await reader.readuntil(b"\r\n\r\n")
            body = json.dumps(self.report()).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            await writer.drain()
        writer.close()

    def report(self) -> dict[str, object]:
        shut = seccomp.is_known()
        told = "each in a process of its own" if shut else "no code of apps runs on this processor"
        files = (
            "reads no file but Python's"
            if landlock.version()
            else "the kernel does not limit what is read (no Landlock)"
        )
        conditions = {"confinement": {"ok": shut, "detail": f"{told}; {files}"}}
        figures = {"processes": len(self._running), "started": self.started}
        return {"service": "apps", "ready": True, "green": shut, "conditions": conditions, "figures": figures}


def _listen(path: Path, mode: int) -> socket.socket:
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.setblocking(False)
    made.bind(str(path))
    path.chmod(mode)
    made.listen(64)
    return made


def _peer(connection: socket.socket) -> int:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", raw)[1])


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


async def main(state: Path) -> None:
    host = Host(state)
    serving = asyncio.create_task(host.serve())
    stop: Callable[[], object] = serving.cancel
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    with suppress(asyncio.CancelledError):
        await serving


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="infra.apps.host")
    parser.add_argument("--state", type=Path, required=True)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seccomp.undumpable()
    asyncio.run(main(parser.parse_args().state.resolve()))
