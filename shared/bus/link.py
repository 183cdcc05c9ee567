"""A service's whole connection to the bus: connects in the background, then starts its relay and the loops of its durables."""

import asyncio
from typing import Protocol

from schemas.catalogue import LANES, SURFACES, Lane, durable, from_lanes, from_stream, to_lanes, to_stream
from shared.bus.connection import Connection
from shared.bus.delivery import Delivery
from shared.bus.listen import Intake
from shared.bus.received import Reader
from shared.bus.relay import Relay
from shared.db.engine import Database
from shared.db.notices import Notices
from shared.health import Health
from shared.inbox.apply import Applier
from shared.outbox.seal import SealChecker
from shared.settings import Settings
from shared.signing import PublicKeys
from shared.tasks import spawn

BATCH = 200
PREPARED_BATCH = 10
"""Where handlers have slow work to do before the transaction, a batch is small, so that its first events are not late."""


def relay_lanes(service: str) -> list[str]:
    """Lanes of a service's relay: by class at a surface, by destination and class at the bridge."""
    if service != "bridge":
        return list(LANES)
    return [f"{surface}.{lane}" for surface in SURFACES for lane in LANES]


def durables_of(service: str) -> list[tuple[str, str, Lane]]:
    """(stream, durable, lane) that a service reads."""
    if service == "bridge":
        return [(from_stream(s), durable("bridge", lane), lane) for s in SURFACES for lane in from_lanes(s)]
    return [(to_stream(service), durable(service, lane), lane) for lane in to_lanes(service)]


def _batch(service: str, intake: Intake, stream: str, lane: Lane) -> int:
    read = [
        handler
        for handler in intake.handlers.values()
        if handler.event.lane == lane and (service != "bridge" or from_stream(handler.event.owner) == stream)
    ]
    return PREPARED_BATCH if any(handler.prepare for handler in read) else BATCH


class Companion(Protocol):
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


class BusLink:
    """Started without waiting: a service works, and stages, while the bus is away."""

    def __init__(self, settings: Settings, db: Database, health: Health, intake: Intake) -> None:
        self._service = settings.service
        self._health = health
        self.connection = Connection(settings, health)
        several = len(settings.nats_urls) > 1  # what a killed server of the bus took along must be noticed soon
        seals = None if settings.service == "bridge" else SealChecker(PublicKeys.load(settings.public_keys))
        self.reader = Reader(settings.service, seals)
        self.applier = Applier(db, intake, settings.service)
        self._relay = Relay(db, self.connection, health, relay_lanes(settings.service), cluster=several)
        self._deliveries = [
            Delivery(
                db,
                self.connection,
                health,
                self.reader,
                self.applier,
                service=settings.service,
                stream=stream,
                durable=name,
                batch=_batch(settings.service, intake, stream, lane),
                cluster=several,
            )
            for stream, name, lane in durables_of(settings.service)
        ]
        self._task: asyncio.Task[None] | None = None
        self._also: list[Companion] = []
        self._begun: list[Companion] = []
        health.need("bus")

    def share(self, notices: Notices) -> None:
        """What another instance stages, the one that relays sends at once."""
        self._relay.elsewhere = lambda lane: notices.tell("relay", lane)
        notices.on("relay", self._relay.hear)

    async def start(self) -> None:
        self._task = spawn(self._start(), name="bus")

    async def _start(self) -> None:
        await self.connection.start()
        await self._relay.start()
        for delivery in self._deliveries:
            await delivery.start()
        for each in self._also:
            await each.start()
            self._begun.append(each)

    def also(self, companion: "Companion") -> None:
        """Something that works on this connection: started once there is one, stopped while there still is."""
        self._also.append(companion)

    async def stop(self) -> None:
        """What is asked first, then intake, then the relay, then the bus itself."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
        for each in reversed(self._begun):
            await each.stop()
        await asyncio.gather(*(delivery.stop() for delivery in self._deliveries))
        await self._relay.stop()
        await self.connection.stop()
