"""Asks each connector that is on, now and then, whether the other side answers. A check leaves the machine, so the audit has it like any call."""

import asyncio
import json
import time
from datetime import timedelta
from typing import Any

import structlog
from pydantic import ValidationError

from services.connectors.audit.log import AuditLog, Note
from services.connectors.book.domain import Connector
from services.connectors.book.keeper import Keeper
from services.connectors.egress.door import Door
from services.connectors.health import store
from services.connectors.health.usecases.record_check import record_check
from services.connectors.kinds.registry import KINDS
from shared.clock import now
from shared.db import Database
from shared.errors import NotFound, Refused, SchleuseError
from shared.faults import faults_told
from shared.health import Health
from shared.ids import new_id
from shared.tasks import cancel, spawn

log = structlog.get_logger()
WELL, ILL = timedelta(minutes=5), timedelta(seconds=30)
"""Between two checks of what answers, and of what does not."""
LOOK = 10.0
WITHIN = 15.0
"""Seconds."""
AT_ONCE = 4


class ConnectorWatch:
    """A part. Of several instances each check is done by one. `part` names this one in what it begins (audit.closing)."""

    def __init__(self, part: str, db: Database, keeper: Keeper, audit: AuditLog, door: Door, health: Health) -> None:
        self._part = part
        self._db, self._keeper, self._audit, self._door, self._health = db, keeper, audit, door, health
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        keeper.listeners.append(self._woken.set)

    async def start(self) -> None:
        self._task = spawn(self._run(), "connector checks")

    async def stop(self) -> None:
        await cancel(self._task)

    async def check_now(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"name"} -> {"name", "ok", "reason"}. NotFound when there is no such connector, Refused when it is off."""
        connector = self._keeper.book.connectors.get(str(args.get("name", "")))
        if connector is None:
            raise NotFound(
                f"there is no connector {str(args.get('name', ''))[:64]!r}; `schleuse connectors list` shows them"
            )
        if not connector.enabled:
            raise Refused(f"connector {connector.name} is switched off, so nothing of it leaves; turn it on first")
        await self._claim(connector, timedelta(0), timedelta(0))
        reason = await self._check(connector)
        return {"name": connector.name, "ok": not reason, "reason": reason}

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._pass()
            except SchleuseError as error:
                log.warning("connectors.not_checked", error=error.message, code=error.code)
            await self._sleep()

    async def _pass(self) -> None:
        book = self._keeper.book
        on = [each for each in book.connectors.values() if book.is_on(each)]
        due = [each for each in on if await self._claim(each, WELL, ILL)]
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(each: Connector) -> None:
            try:
                async with turns:
                    await self._check(each)
            except SchleuseError as error:  # the audit or the database is away
                log.warning("connectors.not_checked", connector=each.name, error=error.message, code=error.code)

        await asyncio.gather(*(one(each) for each in due))
        async with self._db.reading() as tx:
            silent = await store.down(tx, [each.name for each in on])
        self._health.figures["connectors_on"] = len(on)
        self._health.figures["connectors_not_answering"] = len(silent)

    async def _claim(self, connector: Connector, well: timedelta, ill: timedelta) -> bool:
        at = now()
        async with self._db.transaction() as tx:
            return await store.claim(tx, connector.name, connector.statement_hash, at, at - well, at - ill)

    async def _check(self, connector: Connector) -> str:
        """Why it does not answer, or empty. Both entries of the audit are written whatever happens; without the first nothing leaves."""
        begun = Note(
            new_id(),
            "connectors",
            "connector.check",
            "begun",
            connector=connector.name,
            target=connector.kind,
            status=self._part,
        )
        await self._audit.append(begun)
        started, reached, reason = time.monotonic(), "", "the check was broken off"
        try:
            reason, reached = await self._look(connector)
        finally:
            ended = Note(
                **{
                    **vars(begun),
                    "outcome": "failed" if reason else "ok",
                    "status": "",
                    "detail": reason,
                    "target": reached or connector.kind,
                    "duration_ms": int((time.monotonic() - started) * 1000),
                }
            )
            await self._audit.append(ended)
        async with self._db.transaction() as tx:
            await record_check(tx, connector.name, reason, now())
        return reason

    async def _look(self, connector: Connector) -> tuple[str, str]:
        """(why it does not answer or empty, what was dialled)."""
        kind = KINDS.get(connector.kind)
        if kind is None:
            return f"this release has no kind {connector.kind}", ""
        way = None
        try:
            settings = kind.settings.model_validate_json(json.dumps(connector.settings))
            way = self._door.way(kind.hosts(settings), settings.addresses)
            async with asyncio.timeout(WITHIN):
                with faults_told(connector.name):
                    reason = await kind.check(settings, way)
        except TimeoutError:
            reason = f"no answer within {WITHIN:g} s"
        except ValidationError:
            reason = "its settings do not fit this release; declare it anew"
        except SchleuseError as error:
            reason = error.message
        return reason[:300], ", ".join(way.reached)[:300] if way is not None else ""

    async def _sleep(self) -> None:
        try:
            async with asyncio.timeout(LOOK):
                await self._woken.wait()
        except TimeoutError:
            return
