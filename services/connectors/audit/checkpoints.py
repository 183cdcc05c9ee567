"""Signs a checkpoint every 1,000 entries or 60 s, and when it stops, so that a tail that is cut off contradicts somebody."""

import asyncio

import structlog

from services.connectors.audit.domain import Head
from services.connectors.audit.usecases.sign_checkpoint import sign_checkpoint
from shared.db import Database
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.signing import SigningKey
from shared.tasks import cancel, spawn

log = structlog.get_logger()
EVERY = 1000
"""Entries."""
AT_LEAST = 60.0
"""Seconds."""
AGAIN = 5.0
CONDITION = "audit_checkpoints"


class Checkpoints:
    """A part. `told` is called with the audit's head whenever entries were written here."""

    def __init__(self, db: Database, key: SigningKey, health: Health) -> None:
        self._db, self._key, self._health = db, key, health
        self._signed = 0
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def told(self, head: Head) -> None:
        if head.seq + 1 - self._signed >= EVERY:
            self._woken.set()

    async def start(self) -> None:
        self._health.set(CONDITION, True)
        self._task = spawn(self._run(), "checkpoints")

    async def stop(self) -> None:
        await cancel(self._task)
        await self.sign()

    async def _run(self) -> None:
        while True:
            await self._sleep(AT_LEAST if await self.sign() else AGAIN)

    async def sign(self) -> bool:
        """Whether one is signed, or nothing was to sign."""
        self._woken.clear()
        try:
            async with self._db.transaction() as tx:
                size = await sign_checkpoint(tx, self._key)
        except Transient as error:
            log.warning("checkpoints.not_signed", error=error.message)
            return False
        except SchleuseError as error:
            log.error("checkpoints.refused", error=error.message)
            self._health.set(CONDITION, False, error.message)
            return False
        self._health.set(CONDITION, True)
        self._signed = size or self._signed
        self._health.figures["audit_checkpoint"] = self._signed
        return size is not None

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
