"""The relay: reads what is staged, publishes it, marks what got its PubAck.

Guarantee: at least once, in order per lane except across a fail-over, where readers decide by key version. One relay is
active per database; it holds a session advisory lock on a connection of its own, others stand by.
"""

import asyncio
from collections.abc import Callable

import asyncpg
import structlog

from shared.bus.connection import Connection
from shared.bus.publish import ACK_TIMEOUT, Outgoing, publish
from shared.db.engine import GONE, Database
from shared.db.raw import Raw
from shared.errors import Permanent, Transient
from shared.health import Health
from shared.outbox.seal import HEADER
from shared.tasks import spawn

log = structlog.get_logger()

BATCH = 500
BATCH_BYTES = 4 * 1024 * 1024
POLL = 1.0
SWEEP = 2.0
STAND_BY = 0.2
"""Seconds between two tries of an instance that stands by to get the lock of one that was killed."""
HUNG = 3.0
PATIENCE_CLUSTER = 0.6
"""Seconds for a PubAck: a killed leader never answers, and sending again with the same id does no harm."""
LATE = 2000
"""Positions below the newest sent one that every read looks at again: room for transactions that commit late."""
_LOCK = "SELECT pg_try_advisory_lock(7365686)"
_OLDEST = "SELECT min(position) FROM app.todo"
_OUST = """
SELECT pg_terminate_backend(pid) FROM pg_locks
 WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = 7365686 AND pid <> pg_backend_pid()
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_READ = """
SELECT o.position, o.event_id, o.subject, o.headers ->> 'Schleuse-Seal' AS seal, o.body FROM app.outbox o
 WHERE o.position = ANY (ARRAY(SELECT t.position FROM app.todo t WHERE t.lane = $1 AND t.position > $2
                                ORDER BY t.position LIMIT $3))
 ORDER BY o.position
"""
_MARK = """
WITH gone AS (DELETE FROM app.todo WHERE lane = $1 AND position = ANY ($2::bigint[]) RETURNING position),
 soon AS (SELECT set_config('synchronous_commit', 'off', true) AS is_off)
INSERT INTO app.sent (lane, first, last, count)
SELECT $1, min(position), max(position), count(*) FROM gone, soon WHERE is_off = 'off' HAVING count(*) > 0
"""
"""The mark need not be on disk at once: one lost with the machine's power means that the batch is sent again with the
same ids, which the readers' inboxes know. It saves every second fsync of a database."""
_BLOCK = """
WITH gone AS (DELETE FROM app.todo WHERE position = $1)
INSERT INTO app.parked (event_id, name, subject, headers, body, reason, attempts)
SELECT event_id, name, subject, headers, body, $2, 1 FROM app.outbox WHERE position = $1
"""


class Relay:
    """One task per lane, each woken by commits in this process and by a slow poll for everything else."""

    def __init__(
        self,
        db: Database,
        bus: Connection,
        health: Health,
        lanes: list[str],
        batch: int = BATCH,
        *,
        cluster: bool = False,
    ) -> None:
        self._db = db
        self._bus = bus
        self._health = health
        self._batch = batch
        self._patience, self._stand_by = (PATIENCE_CLUSTER, STAND_BY) if cluster else (ACK_TIMEOUT, POLL)
        self._events = {lane: asyncio.Event() for lane in lanes}
        self._floor = dict.fromkeys(lanes, 0)
        self._stuck_at: tuple[int | None, float] = None, 0.0
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.sent = 0
        self._leads = False
        self.elsewhere: Callable[[str], None] = lambda lane: None
        db.wake = self.wake

    def wake(self, lane: str) -> None:
        """This process staged something; where another instance relays, that one has to know."""
        self._events[lane].set()
        if not self._leads:
            self.elsewhere(lane)

    def hear(self, lane: str | None) -> None:
        """Another instance staged something; None: perhaps, in any lane."""
        if lane is None:
            self._wake_all()
        elif lane in self._events:
            self._events[lane].set()

    async def start(self) -> None:
        self._health.set("relay", True, "standing by")
        self._health.figures["relay_sent"] = self.sent
        self._bus.reconnected.append(self._wake_all)
        self._task = spawn(self._run(), name="relay")

    async def stop(self) -> None:
        """Finish the batches in hand and their marks, then let the lock go."""
        self._stopping.set()
        self._wake_all()
        if self._task is not None:
            await self._task

    def _wake_all(self) -> None:
        for event in self._events.values():
            event.set()

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                lock = await self._db.connect()
            except GONE as error:
                self._health.set("relay", False, f"the database is away: {error}")
                await self._pause(0.5)
                continue
            try:
                await self._lead(lock)
            finally:
                await _close(lock)

    async def _lead(self, lock: Raw) -> None:
        try:
            while not await lock.fetchval(_LOCK):
                self._stands_by()
                await self._pause(self._stand_by)
                if self._stopping.is_set():
                    return
                if self._stand_by < POLL and self._bus.connected:
                    await self._oust_if_hung(lock)
        except GONE:
            return
        self._health.set("relay", True, "relaying")
        self._leads = True
        try:
            await asyncio.gather(*(self._lane(lane, lock) for lane in self._events))
        finally:
            self._leads = False

    def _stands_by(self) -> None:
        """What was wrong while this one relayed is the other's to tell now."""
        self._health.set("relay", True, "another instance relays")
        for lane in self._events:
            if f"relay_{lane}" in self._health.conditions:
                self._health.set(f"relay_{lane}", True, "another instance relays")

    async def _oust_if_hung(self, lock: Raw) -> None:
        """End the database session of a relay that has sent nothing of what waits for HUNG seconds.

        It may come back to life: what it then sends once more has ids that the bus and the readers know.
        """
        oldest, present = await lock.fetchval(_OLDEST), asyncio.get_running_loop().time()
        if oldest is None or oldest != self._stuck_at[0]:
            self._stuck_at = oldest, present
        elif present - self._stuck_at[1] > HUNG:
            log.warning("relay.ousted", oldest=oldest)
            await lock.execute(_OUST)
            self._stuck_at = None, present

    async def _lane(self, lane: str, lock: Raw) -> None:
        event = self._events[lane]
        swept = 0.0
        clock = asyncio.get_running_loop().time
        while not self._stopping.is_set() and not lock.is_closed():
            event.clear()
            if clock() - swept > SWEEP:
                self._floor[lane], swept = 0, clock()
            try:
                full = await self._pass(lane)
            except (Transient, TimeoutError, *GONE) as error:
                self._health.set(f"relay_{lane}", False, str(error)[:200])
                await self._pause(0.2)
                continue
            if not full:
                await _wait(event, POLL)

    async def _pass(self, lane: str) -> bool:
        """Publish one batch; whether more may wait."""
        if not self._bus.connected:
            await self._pause(0.1)
            return False
        rows = await self._read(lane)
        if not rows:
            self._is_well(lane)
            return False
        try:
            await publish(self._bus.client, rows, self._patience)
        except Permanent as error:
            await self._one_by_one(rows, error)
            return True
        async with self._db.reading() as tx:
            await tx.raw.execute(_MARK, lane, [row.position for row in rows])
        self.sent += len(rows)
        self._health.figures["relay_sent"] = self.sent
        self._floor[lane] = max(0, rows[-1].position - LATE)
        self._is_well(lane)
        return len(rows) >= self._batch

    def _is_well(self, lane: str) -> None:
        """Everything was sent, or nothing waits: what was wrong is over, also in a lane in which nothing comes for days."""
        self._health.set(f"relay_{lane}", True, "")

    async def _read(self, lane: str) -> list[Outgoing]:
        async with self._db.reading() as tx:
            found = await tx.raw.fetch(_READ, lane, self._floor[lane], self._batch)
        return _cut(
            [
                Outgoing(at, str(id_), subject, {} if seal is None else {HEADER: seal}, body)
                for at, id_, subject, seal, body in found
            ]
        )

    async def _one_by_one(self, rows: list[Outgoing], first: Permanent) -> None:
        """Something in the batch can never be sent: find it, park it, send the rest."""
        log.error("relay.permanent", error=first.message)
        for row in rows:
            try:
                await publish(self._bus.client, [row], self._patience)
            except Permanent as error:
                async with self._db.reading() as tx:
                    await tx.raw.execute(_BLOCK, row.position, error.message)
                self._health.set(
                    "relay_blocked", False, f"{row.subject} cannot be sent and was parked: {error.message}"
                )

    async def _pause(self, seconds: float) -> None:
        await _wait(self._stopping, seconds)


def _cut(rows: list[Outgoing]) -> list[Outgoing]:
    """As many rows from the front as fit into the bytes of a batch; at least one."""
    total = 0
    for number, row in enumerate(rows):
        total += len(row.body)
        if total > BATCH_BYTES and number:
            return rows[:number]
    return rows


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


async def _close(connection: Raw) -> None:
    try:
        await connection.close(timeout=2)
    except (*GONE, asyncpg.PostgresError):
        connection.terminate()
