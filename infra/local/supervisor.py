"""Runs everything of one state directory: makes it ready, starts the parts in order, keeps them running, stops them in order.

    python -m infra.local.supervisor --state DIR [--port-base N] [--cluster | --no-cluster]

As a program it writes one JSON line per event to standard output until everything is ready (`schleuse up --detach` reads them).
"""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from infra.backup.followed import Followers
from infra.local import identities, place, plans, processes, provisioning, readiness
from infra.local.control import ControlServer
from infra.local.firewall.keeper import Firewall
from infra.local.instances import INSTANCES, base_of, is_service, named
from infra.local.layout import Layout
from infra.local.logfile import LogFile
from infra.local.part import Part, Plan
from infra.local.prepare import Prepared, make_run_folder, prepare
from infra.nats.pace import Pacer
from infra.nats.trim import keep_trimming
from infra.observe.keeper import keep_observing
from shared.clock import now
from shared.errors import Refused

SERVICE_GRACE = 6.0
SERVER_GRACE = 2.5
FOREVER = float("inf")
Event = dict[str, Any]
Tell = Callable[[Event], None]


class Supervisor:
    """`tell` receives events: {"kind": "step"|"ready"|"notice"|"failed"|"stopped", "text", "at", "code"}.

    `at` is in seconds from the start; `code` is the exit code that a failure will lead to.
    """

    def __init__(self, named: Path, port_base: int | None, tell: Tell, *, cluster: bool | None = None) -> None:
        self._named, self._port_base, self._tell, self._cluster = named, port_base, tell, cluster
        self._parts: dict[str, Part] = {}
        self._prepared: Prepared | None = None
        self._stopping = asyncio.Event()
        self._started = time.monotonic()
        self._log: LogFile | None = None
        self._beside: list[asyncio.Task[None]] = []
        self._pacer: Pacer | None = None
        self._followers: Followers | None = None
        self._firewall: Firewall | None = None
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
            if self._firewall is not None:
                await asyncio.to_thread(self._firewall.stop)
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

        prepared = self._prepared = await asyncio.to_thread(
            prepare, layout, who, self._port_base, step, cluster=self._cluster
        )
        prepared = self._prepared = await self._shut_the_way_out(prepared)
        made = plans.plans(prepared, self._servers_ready)
        self._parts = {name: self._part(plan, layout) for name, plan in made.items()}
        self._event("step", "Starting Postgres and NATS")
        await self._start_all([name for name in made if not is_service(name)])
        self._event("step", "Provisioning roles, databases, protected tables, streams and durables")
        self._look_after_bus(prepared)
        await asyncio.gather(provisioning.postgres(prepared, self._log_line), provisioning.bus(prepared))
        for number in range(1, INSTANCES + 1):
            if names := [name for name in made if is_service(name) and name == named(base_of(name), number)]:
                self._event("step", f"Starting {', '.join(names)}")
                await self._start_all(names)
        self._beside.append(asyncio.create_task(keep_observing(prepared, self._log_line)))
        self._followers = Followers(layout)
        self._beside.append(asyncio.create_task(self._followers.run()))

    async def _shut_the_way_out(self, prepared: Prepared) -> Prepared:
        """For all but connectors, before anything starts."""
        later = asyncio.get_running_loop().call_soon_threadsafe
        firewall = Firewall(prepared.layout, prepared.config, lambda text: later(self._event, "notice", text))
        self._firewall = firewall
        found = await asyncio.to_thread(firewall.start)
        if prepared.who.separated and not firewall.on:
            self._event("notice", f"any part may leave this machine: {firewall.why}")
        self._beside.append(asyncio.create_task(firewall.keep()))
        return replace(prepared, config=found)

    async def _start_all(self, names: list[str]) -> None:
        for name in names:
            self._parts[name].start()
        for name in names:
            await self._came_up(name)

    def _look_after_bus(self, prepared: Prepared) -> None:
        layout, ports = prepared.layout, prepared.config.bus_ports
        ca = layout.tls / "ca.pem"
        self._beside.append(asyncio.create_task(keep_trimming(ports, ca, layout.admin_seed)))
        if prepared.config.cluster:
            self._pacer = Pacer(ports, ca, layout.pacer_seed)
            self._pacer.wake()
            self._beside.append(asyncio.create_task(self._pacer.run()))

    def _part(self, plan: Plan, layout: Layout) -> Part:
        return Part(plan, LogFile(layout.logs / f"{plan.name}.log"), self._notice, self._write_down)

    async def _came_up(self, name: str) -> None:
        part = self._parts[name]
        if not await part.became_ready():
            said = f": {part.last_line}" if part.last_line else ""
            raise Refused(f"{name} did not become ready{said} (see {part.log.path})", code="not_ready")

    async def _servers_ready(self) -> None:
        async def ready() -> bool:
            """Of the bus's servers one is enough: clients follow whichever answers."""
            bus = any(part.state == "ready" for name, part in self._parts.items() if base_of(name) == "nats")
            return bus and self._parts["postgres"].state == "ready"

        await readiness.until(ready, FOREVER)

    async def _stop_parts(self) -> None:
        for task in self._beside:
            task.cancel()
        services = [part for name, part in self._parts.items() if is_service(name)]
        servers = [part for name, part in self._parts.items() if not is_service(name)]
        await asyncio.gather(*(part.stop(SERVICE_GRACE) for part in services))
        await asyncio.gather(*(part.stop(SERVER_GRACE) for part in servers))

    async def _status(self) -> dict[str, Any]:
        return {
            "ready": self.ready and all(part.state == "ready" for part in self._parts.values()),
            "starting": not self.ready,
            "pid": os.getpid(),
            "up_seconds": round(time.monotonic() - self._started, 1),
            "parts": {name: part.describe() for name, part in self._parts.items()},
            "backups": self._followers.report() if self._followers else [],
            "egress": self._firewall.report() if self._firewall else {},
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
        if self._pacer is not None and base_of(part) == "nats":
            self._pacer.wake(part)
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


async def supervise(named: Path, port_base: int | None, tell: Tell, *, cluster: bool | None = None) -> int:
    """Run until SIGINT, SIGTERM or a stop over the control socket; the exit code."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on every closed TLS connection says nothing
    os.umask(0o022)  # what is made for several users must be readable by them, whatever the caller's shell says
    supervisor = Supervisor(named, port_base, tell, cluster=cluster)
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
