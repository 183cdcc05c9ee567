"""Where asks arrive. A part of the bus: it hears while there is a connection, and ends what runs before the connection is given up."""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

import structlog

from schemas.outward import ASKERS
from services.connectors.audit.log import Note
from services.connectors.book.keeper import Keeper
from services.connectors.calls.admission import standing
from services.connectors.calls.ending import Endings
from services.connectors.calls.refusals import Refusals
from services.connectors.calls.running import Call, Running
from services.connectors.calls.searching import Searching
from services.connectors.calls.serving import Serving
from shared.asking.wire import ALIVE_EVERY, Ask, AuditAsk, Cancel, HttpAsk, More, Send, unpack
from shared.bus.asks import AnswerLine, Asked
from shared.bus.connection import Connection
from shared.clock import now
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.ids import new_id
from shared.tasks import cancel, spawn

log = structlog.get_logger()
NOTHING = UUID(int=0)
LAST_WORDS = 3.0
"""Seconds that running calls get at a stop to be ended and written down."""


class CallDesk:
    """One for a process: the calls that it took."""

    def __init__(
        self,
        connection: Connection,
        keeper: Keeper,
        serving: Serving,
        searching: Searching,
        refusals: Refusals,
        endings: Endings,
        health: Health,
    ) -> None:
        self._line = AnswerLine(connection)
        self._keeper, self._serving, self._searching, self._endings = keeper, serving, searching, endings
        self._refusals, self._running = refusals, Running()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ticker: asyncio.Task[None] | None = None
        self._stopping = False
        health.counters["calls_running"] = lambda: len(self._running)
        keeper.listeners.append(self._review)

    async def start(self) -> None:
        for asker in ASKERS:
            await self._line.hear(asker, self._hear)
        self._ticker = spawn(self._tick(), "calls alive")

    async def stop(self) -> None:
        self._stopping = True
        self._refusals.hurry()
        await cancel(self._ticker)
        for call in self._running:
            call.cut(Transient("the connectors stop; try again", code="stopping"))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_WORDS)
        await self._endings.settle()

    async def _hear(self, asked: Asked) -> None:
        """One message of an asker; what it takes long for goes on by itself."""
        try:
            match asked.verb:
                case "call":
                    self._take(asked, *unpack(Ask, asked.data))
                case "http":
                    self._take(asked, *unpack(HttpAsk, asked.data))
                case "more":
                    self._running.more(asked.asker, unpack(More, asked.data)[0], _clock())
                case "send":
                    send, raw = unpack(Send, asked.data)
                    self._running.piece(asked.asker, send, raw)
                case "search_audit":
                    self._search(asked, unpack(AuditAsk, asked.data)[0])
                case "cancel":
                    self._running.cancel(asked.asker, unpack(Cancel, asked.data)[0])
        except SchleuseError as error:
            self._turn_away(asked, error)

    def _take(self, asked: Asked, ask: Ask, first: bytes) -> None:
        if self._stopping:
            raise Transient("the connectors stop; try again", code="stopping")
        call = self._call(asked, ask.ask_id)
        call.streams = isinstance(ask, HttpAsk)
        call.arrived(first, ask.more)
        self._running.add(call)
        call.task = self._go(self._serving.serve(call, ask), call)

    def _search(self, asked: Asked, ask: AuditAsk) -> None:
        call = self._call(asked, ask.ask_id)
        self._running.add(call)
        call.task = self._go(self._searching.serve(call, ask), call)

    def _turn_away(self, asked: Asked, error: SchleuseError) -> None:
        """What cannot be read, or is not taken: an entry, too. Steering has no answer."""
        log.warning("ask.turned_away", asker=asked.asker, verb=asked.verb, code=error.code)
        call = self._call(asked, NOTHING)
        note = Note(call.call_id, asked.asker, f"ask.{asked.verb}", "refused", status=error.code, detail=error.message)
        if asked.reply:
            self._go(self._serving.refuse_with(call, note, error), call)

    def _call(self, asked: Asked, ask_id: UUID) -> Call:
        return Call(asked.asker, ask_id, new_id(), asked.reply, self._line, _clock())

    def _go(self, work: Coroutine[Any, Any, None], call: Call) -> "asyncio.Task[None]":
        def ended(task: "asyncio.Task[None]") -> None:
            self._tasks.discard(task)
            self._running.remove(call)

        task = spawn(work, f"call {call.call_id}")
        self._tasks.add(task)
        task.add_done_callback(ended)
        return task

    def _review(self) -> None:
        """The book has changed: what was taken back ends what runs by it."""
        at = now()
        for call in self._running:
            if call.admitted is not None and call.begun:
                fault = standing(self._keeper.book, call, call.admitted, at)
                if fault is not None:
                    call.cut(fault)

    async def _tick(self) -> None:
        """Running calls say that they run; whose asker says nothing any more are ended."""
        while True:
            await asyncio.sleep(ALIVE_EVERY)
            self._running.cut_silent(_clock())
            for call in self._running:
                try:
                    await call.keep()
                except Transient:
                    break


def _clock() -> float:
    return asyncio.get_running_loop().time()
