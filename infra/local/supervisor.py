"""Runs everything of one state directory: makes it ready, starts the parts in order, keeps them running, stops them in order.

    python -m infra.local.supervisor --state DIR [--port-base N]

As a program it writes one JSON line per event to standard output until everything is ready (`schleuse up --detach` reads them).
"""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nats.errors

from infra.local import identities, place, plans, processes, readiness
from infra.local.command import as_user, environment
from infra.local.control import ControlServer
from infra.local.layout import PARTS, Layout
from infra.local.logfile import LogFile
from infra.local.part import Part, Plan
from infra.local.prepare import Prepared, make_run_folder, prepare
from infra.nats.provision import provision as provision_bus
from infra.nats.trim import keep_trimming
from schemas.catalogue import SERVICES
from shared.clock import now
from shared.errors import Refused

SERVICE_GRACE = 6.0
SERVER_GRACE = 2.5
SERVERS = ("postgres", "nats")
FOREVER = float("inf")
Event = dict[str, Any]
Tell = Callable[[Event], None]


class Supervisor:
    """`tell` receives events: {"kind": "step"|"ready"|"notice"|"failed"|"stopped", "text", "at", "code"}.

    `at` is in seconds from the start; `code` is the exit code that a failure will lead to.
    """

    def __init__(self, named: Path, port_base: int | None, tell: Tell) -> None:
        self._named, self._port_base, self._tell = named, port_base, tell
        self._parts: dict[str, Part] = {}
        self._prepared: Prepared | None = None
        self._stopping = asyncio.Event()
        self._started = time.monotonic()
        self._log: LogFile | None = None
        self._trimming: asyncio.Task[None] | None = None
        self.ready = False

    def stop(self) -> None:
        """Ask for an orderly stop; asking twice changes nothing."""
        self._stopping.set()

    async def run(self) -> int:
        """Until a stop is asked for. 0; 1 when something failed; 2 when it was refused before anything started."""
        try:
            who = identities.resolve()
            layout = place.settle(self._named, who)
            lock = place.hold(layout)
        except Refused as error:
            return self._failed(error.message, 2)
        try:
            return await self._run_locked(layout, who)
        finally:
            os.close(lock)

    async def _run_locked(self, layout: Layout, who: identities.Identities) -> int:
        make_run_folder(layout)
        self._log = LogFile(layout.logs / "supervisor.log")
        control = ControlServer(layout, {"status": self._status, "stop": self._asked_to_stop})
        await control.start()
        try:
            if left := await asyncio.to_thread(processes.end_left_behind, layout):
                self._event("notice", f"ended what an earlier run left behind: {', '.join(left)}")
            return await self._bring_up(layout, who)
        finally:
            await self._stop_parts()
            await control.stop()
            processes.write(layout, [])
            self._event("stopped", "Everything is stopped")
            self._log.close()

    async def _bring_up(self, layout: Layout, who: identities.Identities) -> int:
        starting = asyncio.create_task(self._start(layout, who))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                return 0
            await starting
            self.ready = True
            self._event("ready", "Everything is running")
            await stopping
        except Refused as error:
            return self._failed(error.message, 1 if self._parts else 2)
        except OSError as error:
            return self._failed(_os_sentence(error, layout), 1)
        finally:
            for task in (starting, stopping):
                task.cancel()
            await asyncio.gather(starting, stopping, return_exceptions=True)
        return 0

    async def _start(self, layout: Layout, who: identities.Identities) -> None:
        loop = asyncio.get_running_loop()

        def step(name: str) -> None:
            loop.call_soon_threadsafe(self._event, "step", name)

        prepared = self._prepared = await asyncio.to_thread(prepare, layout, who, self._port_base, step)
        made = plans.plans(prepared, self._servers_ready)
        self._parts = {name: self._part(made[name], layout) for name in PARTS}
        self._event("step", "Starting Postgres and NATS")
        for name in SERVERS:
            self._parts[name].start()
        for name in SERVERS:
            await self._came_up(name)
        self._event("step", "Provisioning roles, databases, protected tables, streams and durables")
        await asyncio.gather(self._provision_postgres(prepared), self._provision_nats(prepared))
        self._event("step", f"Starting {', '.join(plans.SERVICE_ORDER)}")
        for name in plans.SERVICE_ORDER:
            self._parts[name].start()
        for name in plans.SERVICE_ORDER:
            await self._came_up(name)

    def _part(self, plan: Plan, layout: Layout) -> Part:
        return Part(plan, LogFile(layout.logs / f"{plan.name}.log"), self._notice, self._write_down)

    async def _came_up(self, name: str) -> None:
        part = self._parts[name]
        if not await part.became_ready():
            said = f": {part.last_line}" if part.last_line else ""
            raise Refused(f"{name} did not become ready{said} (see {part.log.path})", code="not_ready")

    async def _provision_postgres(self, prepared: Prepared) -> None:
        command = [
            str(prepared.runtime.python),
            "-m",
            "infra.postgres.provision",
            "--state",
            str(prepared.layout.state),
        ]
        process = await asyncio.create_subprocess_exec(
            *as_user(prepared.who, "pgadm", command), env=environment(prepared.runtime), cwd=prepared.runtime.code,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, said = await process.communicate()
        if process.returncode:
            text = said.decode(errors="replace").strip()
            self._log_line(f"provisioning: {text}")
            raise Refused(
                f"provisioning the databases failed: {text.splitlines()[-1] if text else 'no message'}",
                code="provision",
            )

    async def _provision_nats(self, prepared: Prepared) -> None:
        layout = prepared.layout
        bus = prepared.config.ports["nats"], layout.tls / "ca.pem", layout.admin_seed
        try:
            await provision_bus(*bus)
        except nats.errors.Error as error:
            raise Refused(f"provisioning the bus failed: {error}", code="provision") from None
        self._trimming = asyncio.create_task(keep_trimming(*bus))

    async def _servers_ready(self) -> None:
        async def ready() -> bool:
            return all(self._parts[name].state == "ready" for name in SERVERS)

        await readiness.until(ready, FOREVER)

    async def _stop_parts(self) -> None:
        if self._trimming is not None:
            self._trimming.cancel()
        services = [part for name, part in self._parts.items() if name in SERVICES]
        servers = [part for name, part in self._parts.items() if name not in SERVICES]
        await asyncio.gather(*(part.stop(SERVICE_GRACE) for part in services))
        await asyncio.gather(*(part.stop(SERVER_GRACE) for part in servers))

    async def _status(self) -> dict[str, Any]:
        return {
            "ready": self.ready and all(part.state == "ready" for part in self._parts.values()),
            "starting": not self.ready,
            "pid": os.getpid(),
            "up_seconds": round(time.monotonic() - self._started, 1),
            "parts": {name: part.describe() for name, part in self._parts.items()},
        }

    async def _asked_to_stop(self) -> dict[str, Any]:
        self.stop()
        return {"pid": os.getpid()}

    def _write_down(self) -> None:
        """Keep the list of running processes for a later start, in case this one is killed."""
        if self._prepared is not None:
            found = [processes.record_of(name, part.pid) for name, part in self._parts.items() if part.pid]
            processes.write(self._prepared.layout, [record for record in found if record])

    def _notice(self, part: str, text: str) -> None:
        self._write_down()
        self._event("notice", f"{part} {text}")

    def _failed(self, text: str, code: int) -> int:
        self._event("failed", text, code)
        return code

    def _event(self, kind: str, text: str, code: int = 0) -> None:
        self._log_line(f"{kind}: {text}")
        self._tell({"kind": kind, "text": text, "at": round(time.monotonic() - self._started, 2), "code": code})

    def _log_line(self, text: str) -> None:
        if self._log is not None:
            self._log.write(f"{now().isoformat(timespec='milliseconds')} {text}\n".encode())


async def supervise(named: Path, port_base: int | None, tell: Tell) -> int:
    """Run until SIGINT, SIGTERM or a stop over the control socket; the exit code."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on every closed TLS connection says nothing
    os.umask(0o022)  # what is made for several users must be readable by them, whatever the caller's shell says
    supervisor = Supervisor(named, port_base, tell)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, supervisor.stop)
    return await supervisor.run()


def _os_sentence(error: OSError, layout: Layout) -> str:
    if error.errno in (28, 122):
        return f"the disk that holds {layout.state} is full ({error.filename or error.strerror}); make room and start again, nothing is lost"
    return f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")


if __name__ == "__main__":
    from infra.local.detached import main

    sys.exit(main())
