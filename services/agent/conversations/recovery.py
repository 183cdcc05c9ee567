"""What a process left when it died is closed: at the start, and every second by whoever lives."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from uuid import UUID

import structlog

from schemas.outward import Owner
from services.agent.conversations.kept import KeptConversations
from services.agent.conversations.turns.store import left_behind, look_at, say_alive, sweep_workers
from services.agent.conversations.usecases.close_turn import close_turn
from shared.db import Database
from shared.errors import SchleuseError, Transient
from shared.tasks import cancel, spawn

log = structlog.get_logger()
ALIVE_EVERY = 1.0
SILENT = 8.0
"""Seconds after which a process that says nothing is taken for dead. One that only slept finds its turns closed, and drops them."""
Settle = Callable[[Owner, UUID], Awaitable[Decimal | None]]
"""(account, turn) -> what its calls cost, after whatever they reserved was settled; None: not known."""


class Recovery:
    """A part, started before anything that works at turns. `settle` settles what the calls of a turn had reserved (rule 2)."""

    def __init__(self, db: Database, kept: KeptConversations, part: str, settle: Settle) -> None:
        self._db, self._kept, self._part, self._settle = db, kept, part, settle
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        async with self._db.transaction() as tx:
            await say_alive(tx, self._kept.worker, self._part)
        await self.close_left_behind()
        self._task = spawn(self._keep_on(), "turns of dead processes")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _keep_on(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_EVERY)
            try:
                async with self._db.transaction() as tx:
                    await say_alive(tx, self._kept.worker, self._part)
                await self.close_left_behind()
            except Transient as error:
                log.warning("recovery.waits", error=error.message)

    async def close_left_behind(self) -> int:
        """How many turns were closed."""
        closed = 0
        while found := await self._left_behind():
            done = sum([await self._close(owner, turn_id) for turn_id, owner in found])
            if not done:
                break  # each waits for one that is answered elsewhere
            closed += done
        return closed

    async def _left_behind(self) -> list[tuple[UUID, Owner]]:
        async with self._db.transaction() as tx:
            await sweep_workers(tx, self._kept.worker, self._part)
            return await left_behind(tx, self._kept.worker, self._part, SILENT)

    async def _close(self, owner: Owner, turn_id: UUID) -> bool:
        """What cannot be closed now is tried again in a second, and holds up nobody else's."""
        try:
            cost = await self._settle(owner, turn_id)
            async with self._db.owned(owner) as tx:
                turn = await look_at(tx, owner, turn_id)
                closed = await close_turn(tx, owner, turn_id, cost)
        except SchleuseError as error:
            log.warning("turn.not_closed", turn=str(turn_id), error=error.message)
            return False
        if closed and turn is not None:
            self._kept.told(turn.conversation_id)
            log.info("turn.closed_after_crash", turn=str(turn_id), state=turn.state, open_calls=len(turn.calls))
        return closed
