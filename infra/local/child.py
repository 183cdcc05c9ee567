"""A child process of the supervisor. Its end is seen at once, also while grandchildren still hold its output open."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

LONGEST_LINE = 1024**2
LAST_OUTPUT_SECONDS = 1.0


class Child:
    """Started in a session of its own, so that a Ctrl-C in the terminal reaches the supervisor only."""

    def __init__(
        self, command: list[str], environment: dict[str, str], folder: str, line: Callable[[bytes], None]
    ) -> None:
        self._line = line
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own modules and servers
                command, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing, env=environment, cwd=folder, start_new_session=True
            )  # fmt: skip
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self.pid = self._process.pid
        self._output = os.fdopen(reading, "rb", buffering=0)
        self._exit = os.pidfd_open(self.pid)
        self._pump = asyncio.create_task(self._read())

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    async def wait(self) -> int:
        """The exit code; minus the signal's number when a signal ended it."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._exit, ended.set)
        try:
            if self.running:
                await ended.wait()
        finally:
            loop.remove_reader(self._exit)
        return self._process.wait()

    async def finish(self, *, end_group: bool) -> None:
        """After the end: end what it started, read its last words, give everything back."""
        if end_group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        await asyncio.wait([self._pump], timeout=LAST_OUTPUT_SECONDS)
        self._pump.cancel()
        await asyncio.gather(self._pump, return_exceptions=True)
        os.close(self._exit)

    def signal(self, number: signal.Signals) -> None:
        if self.running:
            self._process.send_signal(number)

    async def _read(self) -> None:
        reader = asyncio.StreamReader(limit=LONGEST_LINE)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._output
        )
        try:
            while True:
                try:
                    line = await reader.readline()
                except ValueError:  # longer than the limit: what was read of it is dropped
                    continue
                if not line:
                    return
                self._line(line)
        finally:
            transport.close()
