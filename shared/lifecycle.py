"""How a service runs: everything that runs is a part with start and stop, composed by hand in its main.py.

Start: database and tables, bus (in the background), parts, operator, HTTP, health. Stop: HTTP, operator, intake, relay,
bus, parts, pools (architecture, Delivery). A part that fails ends the process; the supervisor starts it again.
"""

import asyncio
import contextlib
import gc
import os
import resource
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import structlog
import uvloop
from sqlalchemy import MetaData

from shared.bus.link import BusLink
from shared.bus.listen import Intake
from shared.db.engine import Database
from shared.db.notices import Notices
from shared.db.schema import Protection, create_missing, verify_core
from shared.errors import SchleuseError
from shared.health import Health
from shared.health_http import health_app
from shared.inbox.forget import ForgetDesk
from shared.inbox.parked import ParkedDesk
from shared.logs import start_logging
from shared.operator import OperatorServer, Verb
from shared.outbox.hops import HopDesk
from shared.outbox.stage import Stamp
from shared.outbox.sweep import Sweep
from shared.settings import Settings
from shared.telemetry import start_tracing
from shared.web.serve import HttpServer

log = structlog.get_logger()
STOP_WITHIN = 8.0
READY_WITHIN = 5.0
"""Seconds that an instance waits at most before it listens beside the other."""


class Part(Protocol):
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


class Service:
    """Composed in main.py: `database`, `bus`, `part`, `http`, `operator`, then `run`."""

    def __init__(self, settings: Settings) -> None:
        start_logging(settings.service)
        self.settings = settings
        self.health = Health(settings.service)
        self._tracing = start_tracing(settings)
        self._db: Database | None = None
        self._notices: Notices | None = None
        self._app: MetaData | None = None
        self._core: MetaData | None = None
        self._protection = Protection()
        self._link: BusLink | None = None
        self._parts: list[Part] = []
        self._servers: list[HttpServer] = []
        self._verbs: dict[str, Verb] = {}

    def database(
        self,
        app: MetaData,
        core: MetaData,
        stamp: Stamp | None = None,
        *,
        protection: Protection | None = None,
        unhurried: bool = False,
    ) -> Database:
        """The service's database; `app` is created at start, `core` is checked: append-only, but for what `protection` declares. `unhurried` as in Database."""
        self._app, self._core, self._protection = app, core, protection or Protection()
        self._db = Database(self.settings, stamp, unhurried=unhurried)
        self._notices = Notices(self._db, several=self.settings.cluster)
        return self._db

    @property
    def notices(self) -> Notices:
        """News from and to the other instances of this service."""
        assert self._notices is not None, "declare the database first"
        return self._notices

    def bus(self, declared: object) -> BusLink:
        """Publish what is staged, and call the handlers declared on this object."""
        assert self._db is not None, "declare the database first"
        self._link = BusLink(self.settings, self._db, self.health, Intake(declared))
        self._link.share(self.notices)
        return self._link

    def part(self, part: Part) -> None:
        """Something with start and stop; started in order after the bus, stopped in reverse."""
        self._parts.append(part)

    def http(self, app: Any, host: str, port: int, *, closing: Callable[[], None] | None = None) -> None:
        """Serve an ASGI app. `closing` is called when the server begins to stop: to end streams that would hold it up."""
        server = HttpServer(app, host=host, port=port, closing=closing, shared=self.settings.cluster)
        self.health.counters["http_requests"] = lambda: server.answered
        self._servers.append(server)

    def operator(self, verbs: Mapping[str, Verb]) -> None:
        self._verbs |= verbs

    def run(self) -> int:
        """Run until SIGTERM or SIGINT; the exit code. A crash leaves no memory on the disk: it may hold what is written down nowhere else."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            return uvloop.run(self._run())
        except SchleuseError as error:
            log.critical("service.refused", error=error.message, code=error.code)
            return 1

    async def _run(self) -> int:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        async with contextlib.AsyncExitStack() as stack:
            await self._start(stack)
            log.info("service.started", pid=os.getpid())
            await stopping.wait()
            log.info("service.stopping")
            loop.call_later(STOP_WITHIN, _give_up)
        log.info("service.stopped")
        return 0

    async def _start(self, stack: contextlib.AsyncExitStack) -> None:
        health = HttpServer(health_app(self.health), path=self.settings.run / "health.sock")
        await self._begin(stack, health)
        self.health.need("started")
        db = self._db
        assert db is not None and self._app is not None and self._core is not None
        await self._begin(stack, db)
        await create_missing(db, self._app)
        await verify_core(db, self._core, self._protection)
        parts: list[Part] = [self.notices, Sweep(db, self.health, self.settings.state), *self._parts]
        for part in parts:
            await self._begin(stack, part)
        if self._link is not None:
            await self._begin(stack, self._link)
        await self._begin(stack, OperatorServer(self.settings, self._all_verbs(db)))
        if self.settings.cluster and self._servers:
            await self._others_serve_meanwhile()
        for server in self._servers:
            await self._begin(stack, server)
        _settle_memory()
        self.health.set("started", True, "")

    async def _others_serve_meanwhile(self) -> None:
        """Listen once there is something to say: until then the other instance gets every connection to the port they share."""
        deadline = asyncio.get_running_loop().time() + READY_WITHIN
        while not self.health.ready_but("started") and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # conditions are set all over the service; one wait a start

    @staticmethod
    async def _begin(stack: contextlib.AsyncExitStack, part: Part) -> None:
        await part.start()
        stack.push_async_callback(part.stop)

    def _all_verbs(self, db: Database) -> dict[str, Verb]:
        link = self._link
        parked = ParkedDesk(db, link.applier if link else None, link.reader if link else None)
        built_in: dict[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]] = {
            "parked.list": parked.list,
            "parked.show": parked.show,
            "parked.replay": parked.replay,
            "parked.drop": parked.drop,
            "delivery.forget": ForgetDesk(db).forget,
            "hops": HopDesk(db, self.settings.service).hops,
            "health": self._report,
        }
        return built_in | self._verbs

    async def _report(self, _: dict[str, Any]) -> dict[str, Any]:
        return self.health.report()


def _settle_memory() -> None:
    """What is here stays: the collector need not look at it again.

    A full collection stopped a service for some 40 ms, in the middle of a decision as well as anywhere else; and a batch
    of events makes thousands of objects that all go by themselves.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _give_up() -> None:
    log.error("service.stop_took_too_long")
    sys.stderr.flush()
    os._exit(1)
