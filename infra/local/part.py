"""One supervised process: started, watched, started again when it ends, stopped in order."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from infra.local.child import Child
from infra.local.logfile import LogFile
from infra.local.readiness import Probe, until

WAITS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
"""Seconds before the next start; from the beginning again after it ran well for CALM_SECONDS."""

CALM_SECONDS = 20.0
READY_SECONDS = 60.0
TRIES_AT_START = 5
HOPELESS = 78
"""Exit code: starting again will not help until somebody changes something."""


@dataclass(frozen=True)
class Plan:
    """How a part is run. `may_start` is awaited before each start: services wait for Postgres and NATS.

    `asked_again` is false for the servers: each question that is no real session leaves lines in their logs, and whether
    they answer is what the services report anyway.

    `is_stuck` says of a line of output that the part writes nothing any more until it is started anew (NATS does not get
    over a full disk by itself); that happens as soon as `has_room`.
    """

    name: str
    command: list[str]
    environment: dict[str, str]
    folder: str
    probe: Probe
    stop_signal: signal.Signals = signal.SIGTERM
    may_start: Callable[[], Awaitable[None]] | None = None
    alive: Probe | None = None
    asked_again: bool = True
    is_stuck: Callable[[bytes], bool] | None = None
    has_room: Callable[[], bool] = lambda: True


@dataclass
class Part:
    """`state`: waiting, starting, ready, unready, ended, stopping, stopped."""

    plan: Plan
    log: LogFile
    notice: Callable[[str, str], None]
    changed: Callable[[], None]
    state: str = "waiting"
    pid: int | None = None
    restarts: int = 0
    last_line: str = ""
    hopeless: bool = False
    _child: Child | None = field(default=None, repr=False)
    _task: asyncio.Task[None] | None = field(default=None, repr=False)
    _stopping: bool = False
    _stuck: bool = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_running(), name=self.plan.name)

    async def became_ready(self, seconds: float = READY_SECONDS) -> bool:
        """Wait for the first answer; False when it is hopeless or takes too long."""

        async def settled() -> bool:
            return self.state == "ready" or self.hopeless or self.restarts >= TRIES_AT_START

        return await until(settled, seconds) and self.state == "ready"

    async def stop(self, grace: float) -> None:
        """Signal, wait, kill. Nothing is started again afterwards."""
        self._stopping = True
        self.state = "stopping"
        if self._child is not None and self._child.running:
            self._child.signal(self.plan.stop_signal)
            assert self._task is not None
            await asyncio.wait([self._task], timeout=grace)
            if self._child.running:
                self.notice(self.plan.name, f"did not stop within {grace:.0f} s and was killed")
                self._child.signal(signal.SIGKILL)
                await asyncio.wait([self._task], timeout=2)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.state, self.pid = "stopped", None
        self.log.close()

    def describe(self) -> dict[str, Any]:
        return {"state": self.state, "ready": self.state == "ready", "pid": self.pid, "restarts": self.restarts}

    async def _keep_running(self) -> None:
        failures = 0
        while not self._stopping:
            if self.plan.may_start is not None:
                await self.plan.may_start()
            started = asyncio.get_running_loop().time()
            code = await self._run_once()
            if self._stopping:
                return
            failures = 0 if asyncio.get_running_loop().time() - started > CALM_SECONDS else failures
            wait = WAITS[min(failures, len(WAITS) - 1)]
            failures += 1
            self.hopeless = code == HOPELESS
            self.state, self.pid = "ended", None
            self.notice(self.plan.name, f"{_ended(code)}; starting again in {wait:g} s" + self._last_words(code))
            await asyncio.sleep(wait)
            self.restarts += 1

    async def _run_once(self) -> int:
        self.state, self._stuck = "starting", False
        child = self._child = Child(self.plan.command, self.plan.environment, self.plan.folder, self._line)
        self.pid = child.pid
        self.changed()
        watch = asyncio.create_task(self._watch())
        try:
            return await child.wait()
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
            await child.finish(end_group=self.plan.name != "postgres")

    async def _watch(self) -> None:
        """Ask until it is ready, and now and then whether it still is."""
        while True:
            asking = self.plan.alive if self.state == "ready" and self.plan.alive else self.plan.probe
            ready = await asking()
            if self._stopping or (self._stuck and self._start_anew()):
                return
            ready = ready and not self._stuck
            if ready and self.state != "ready":
                self.state = "ready"
                self.hopeless = False
                self.changed()
                if not self.plan.asked_again:
                    return
            elif not ready and self.state == "ready":
                self.state = "unready"
            await asyncio.sleep(1.0 if ready else 0.05 if self.state == "starting" else 0.3)

    def _start_anew(self) -> bool:
        """End the stuck child when a new one would find room; it is started again like one that ended by itself."""
        if not self.plan.has_room() or self._child is None:
            return False
        self.notice(
            self.plan.name, "found its disk full and writes nothing until it is started anew, which happens now"
        )
        self._child.signal(self.plan.stop_signal)
        return True

    def _line(self, line: bytes) -> None:
        self.log.write(line)
        if self.plan.is_stuck is not None and self.plan.is_stuck(line):
            self._stuck = True
        self.last_line = line[:500].decode(errors="replace").strip()

    def _last_words(self, code: int) -> str:
        return f" (last line: {self.last_line})" if code > 0 and self.last_line else ""


def _ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
