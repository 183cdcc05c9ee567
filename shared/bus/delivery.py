"""Delivery: from a durable through the inbox to the handlers, then the ack. Nothing is acked before its effect is durable.

Errors are mapped here and nowhere else in delivery: what can never be read or handled is parked at once; anything else is
tried again with growing waits and parked after eight attempts (rule 12). While the database is away nothing is given
back and no attempt is spent: the batch is held, told to the server as in progress, and tried again.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from pydantic import ValidationError

from shared.bus.connection import Connection
from shared.bus.pull import EXPIRES, EXPIRES_CLUSTER, Pull
from shared.bus.received import AnyReceived, Reader
from shared.bus.wire import answer, send
from shared.db.engine import Database
from shared.errors import Away, Permanent
from shared.health import Health
from shared.inbox.apply import Applier
from shared.inbox.unreadable import park_unreadable
from shared.tasks import spawn

log = structlog.get_logger()

WAITS = (1, 3, 10, 30, 120, 300, 300)
"""Seconds before the second to eighth attempt."""
ATTEMPTS = len(WAITS) + 1
HEARTBEAT = 3.0
HEARTBEAT_CLUSTER = 0.4
"""There an event that nobody speaks for is given to another instance after 1.2 s (infra.nats.provision)."""
READ_AT_ONCE = 10
"""Events read before others get their turn: 200 fat ones would hold up a decision in the same process."""


class Delivery:
    """The loop of one durable."""

    def __init__(
        self,
        db: Database,
        bus: Connection,
        health: Health,
        reader: Reader,
        applier: Applier,
        *,
        service: str,
        stream: str,
        durable: str,
        batch: int = 200,
        cluster: bool = False,
    ) -> None:
        self._expires, self._heartbeat = (EXPIRES_CLUSTER, HEARTBEAT_CLUSTER) if cluster else (EXPIRES, HEARTBEAT)
        self._db, self._bus, self._health = db, bus, health
        self._reader, self._applier = reader, applier
        self._service, self._stream, self._durable, self._batch = service, stream, durable, batch
        self._name = f"intake_{stream.lower()}_{durable}"
        self._stopping = False
        self._pull: Pull | None = None
        self._held: list[Msg] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.handled = 0

    async def start(self) -> None:
        self._pull = Pull(self._bus.client, self._service, self._stream, self._durable, self._batch, self._expires)
        await self._pull.start()
        self._bus.reconnected.append(self._pull.restart)
        self._health.set(self._name, True, "waiting")
        self._health.figures[f"{self._name}_handled"] = self.handled
        self._tasks = [
            spawn(self._run(self._pull), name=self._name),
            spawn(self._keep_alive(), name=f"{self._name}_alive"),
        ]

    async def stop(self) -> None:
        """By flag, never by cancelling: the batch in hand is finished."""
        self._stopping = True
        if self._pull is not None:
            self._pull.wake()
            await self._tasks[0]
            self._tasks[1].cancel()
            await self._pull.stop()

    async def _run(self, pull: Pull) -> None:
        while not self._stopping:
            try:
                messages = await pull.next()
            except NatsError as error:
                self._health.set(self._name, False, str(error))
                await asyncio.sleep(0.2)
                continue
            if messages:
                self._held = messages
                await self._handle(messages)
                self._held = []
                self.handled += len(messages)
                self._health.figures[f"{self._name}_handled"] = self.handled

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat)
            await self._answer_all(self._held, b"+WPI")

    async def _handle(self, messages: Sequence[Msg]) -> None:
        readable: list[tuple[Msg, AnyReceived]] = []
        for number, message in enumerate(messages, 1):
            event = await self._read(message)
            if event is not None:
                readable.append((message, event))
            if number % READ_AT_ONCE == 0:
                await asyncio.sleep(0)
        if not readable:
            return
        try:
            await self._through([event for _, event in readable])
        except Stopped:
            return
        except Exception as error:
            if len(readable) == 1:
                await self._failed(*readable[0], error)
                return
            for pair in readable:
                await self._alone(*pair)
            return
        await self._answer_all([message for message, _ in readable], b"+ACK")

    async def _alone(self, message: Msg, event: AnyReceived) -> None:
        try:
            await self._through([event])
        except Stopped:
            return
        except Exception as error:
            await self._failed(message, event, error)
        else:
            await self._answer(message, b"+ACK")

    async def _through(self, events: Sequence[AnyReceived]) -> None:
        await self._applier.prepare(events)
        await self._while_away(self._applier.apply, events)

    async def _while_away(self, action: Any, *arguments: Any) -> None:
        """Run it; while the database is away, wait and run it again."""
        while True:
            try:
                await action(*arguments)
            except Away as error:
                self._health.set(self._name, False, error.message[:200])
                if self._stopping:
                    raise Stopped from error
                await asyncio.sleep(0.3)
            else:
                self._health.set(self._name, True, "")
                return

    async def _read(self, message: Msg) -> AnyReceived | None:
        headers = dict(message.headers or {})
        attempt = delivery_count(message.reply)
        try:
            return self._reader.read(message.subject, headers, message.data, attempt)
        except Permanent as error:
            log.error("delivery.unreadable", subject=message.subject, error=error.message)
            try:
                await self._while_away(park_unreadable, self._db, message.subject, headers, message.data, error.message)
            except Stopped:
                return None
            await self._answer(message, b"+ACK")
            return None

    async def _failed(self, message: Msg, event: AnyReceived, error: Exception) -> None:
        reason = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        final = isinstance(error, Permanent | ValidationError) or event.attempt >= ATTEMPTS
        log.warning(
            "delivery.failed",
            name=event.name,
            id=str(event.event_id),
            attempt=event.attempt,
            error=reason[:300],
            final=final,
        )
        if not final:
            wait = WAITS[event.attempt - 1]
            await self._answer(message, b'-NAK {"delay": %d}' % (wait * 1_000_000_000))
            return
        try:
            await self._while_away(self._applier.park, event, reason[:2000])
        except Stopped:
            return
        await self._answer(message, b"+ACK")

    async def _answer(self, message: Msg, word: bytes) -> None:
        await self._answer_all([message], word)

    async def _answer_all(self, messages: Sequence[Msg], word: bytes) -> None:
        """An answer that is lost costs a redelivery, which the inbox absorbs."""
        try:
            await send(self._bus.client, [answer(message.reply, word) for message in messages])
        except (NatsError, OSError) as error:
            log.warning("delivery.answer_lost", error=str(error))


class Stopped(Exception):
    """The service stops while the database is away: leave the messages for the next start."""


def delivery_count(reply: str) -> int:
    """How often this message was delivered, from its ack subject (both forms that the server may use)."""
    parts = reply.split(".")
    place = 4 if len(parts) == 9 else 6
    try:
        return int(parts[place])
    except (IndexError, ValueError):
        return 1
