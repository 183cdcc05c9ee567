"""Runs what people have allowed, exactly those bytes and once; tells the conversation what became of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Protocol
from uuid import UUID

import structlog

from schemas.outward import Owner
from services.agent.actions import store
from services.agent.actions.desk import ActionDesk
from services.agent.actions.domain import GIVEN_UP, RUN_WITHIN, End, Place, read_arguments, read_card, told
from services.agent.actions.usecases.begin_action import Begun, begin_action
from services.agent.actions.usecases.end_action import end_action
from services.agent.actions.usecases.expire_action import expire_action
from services.agent.owners.deciders import Deciders
from services.agent.owners.domain import Me
from services.agent.tools.domain import Asked, Tool
from shared.clock import now
from shared.db import Database
from shared.errors import NotFound, SchleuseError
from shared.faults import faults_told
from shared.tasks import cancel, spawn
from shared.telemetry import span

log = structlog.get_logger()
LONGEST, AGAIN = timedelta(seconds=30), timedelta(seconds=2)
Who = Callable[[Owner, str], Awaitable[Me | None]]
"""Who an owner of that name is now, with the role that they have now; None when they may not come in any more."""


class Notes(Protocol):
    """What of a conversation is needed to tell it something."""

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None: ...
    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None: ...


class ActionRunner:
    """A part. Woken when a decision was kept, else every half minute: what another instance left is taken over."""

    def __init__(
        self,
        db: Database,
        desk: ActionDesk,
        deciders: Deciders,
        tools: Callable[[], Sequence[Tool]],
        notes: Notes,
        who: Who,
        part: str,
    ) -> None:
        self._db, self._desk, self._deciders, self._tools = db, desk, deciders, tools
        self._notes, self._who, self._part = notes, who, part
        self._woken = asyncio.Event()
        self._started = now()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        self._woken.set()

    async def start(self) -> None:
        self._started = now()
        self._task = spawn(self._run(), "actions")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                wait = await self._round()
            except SchleuseError as error:
                log.warning("actions.held_up", error=error.message)
                wait = AGAIN
            await self._sleep(wait)

    async def _round(self) -> timedelta:
        """All that is to be done now; how long nothing is."""
        at = now()
        async with self._db.reading() as tx:
            due = await store.due(tx, at, at - GIVEN_UP, self._part, self._started)
            expiry = await store.next_expiry(tx)
        await asyncio.gather(*(self._go_on(each) for each in due))
        if due:
            return timedelta(0)
        return LONGEST if expiry is None else min(LONGEST, max(expiry - now(), timedelta(0)))

    async def _sleep(self, wait: timedelta) -> None:
        try:
            async with asyncio.timeout(wait.total_seconds()):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _go_on(self, seen: Place) -> None:
        async with self._db.owned(seen.owner) as tx:
            place, begun = await store.place(tx, seen.card_id, lock=True), None
            if place is None or place.phase != seen.phase or place.since != seen.since:
                return  # another instance was first
            if place.phase == "decided":
                begun = await begin_action(tx, place, self._deciders, self._part, now())
            elif place.phase != "untold":
                await expire_action(tx, place, now())
        if begun is not None:
            await self._do(begun)
        elif seen.phase == "untold":
            await self._tell(seen)

    async def _do(self, begun: Begun) -> None:
        with span("agent action"):
            state, reason = await self._tried(begun)
        async with self._db.owned(begun.place.owner) as tx:
            await end_action(tx, begun.place, state, reason, now(), begun.statement_hash)

    async def _tried(self, begun: Begun) -> tuple[End, str]:
        card, me = begun.card, await self._who(begun.place.owner, begun.card.owner_name)
        tool = next((each for each in self._tools() if each.name == card.tool), None)
        if me is None or tool is None or not tool.may(me.role):
            return "failed", f"{card.owner_name} may not use {card.tool} any more"
        arguments = read_arguments(tool, card)
        if arguments is None:
            return "failed", f"{card.tool} does not take any more what the card says"
        asked = Asked(me, card.conversation_id, begun.turn_id, card.sources, card_id=card.card_id)
        try:
            async with asyncio.timeout(RUN_WITHIN.total_seconds()):
                with faults_told(card.tool):
                    found = await tool.run(asked, arguments)
            if found.sources:
                await self._notes.taint(me, card.conversation_id, found.sources)
            await self._say(me, card.conversation_id, found.said)
        except SchleuseError as error:
            return "failed", error.message
        except TimeoutError:
            return "failed", f"it took longer than {RUN_WITHIN.seconds} s, and nobody knows whether it had an effect"
        return "done", found.shown

    async def _say(self, me: Me, conversation_id: UUID, text: str) -> None:
        """What was done stands, whether the conversation is there or not."""
        with suppress(NotFound):
            if text:
                await self._notes.note(me, conversation_id, text)

    async def _tell(self, place: Place) -> None:
        """At least once: a process that dies between the note and its mark tells it again."""
        async with self._db.owned(place.owner) as tx:
            row = await store.card(tx, place.owner, place.card_id)
            end = await store.ended(tx, place.owner, place.card_id)
        card = read_card(row["card"]) if row is not None else None
        me = await self._who(place.owner, card.owner_name) if card else None
        if card is not None and end is not None and me is not None:
            text = told(card, end["state"], end["reason"], self._desk.link(place.card_id))
            try:
                await self._notes.note(me, card.conversation_id, text)
            except NotFound:
                log.info("actions.conversation_is_gone", card=str(place.card_id))
        async with self._db.transaction() as tx:
            await store.move(tx, place.card_id, "ended", now())
