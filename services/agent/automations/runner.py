"""A run of an automation: a turn in a conversation of its own, as its owner is now, by its own delegation, under their cap (rules 28, 30, 31)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from schemas.agency import ActionCard
from schemas.outward import Owner
from services.agent.automations import store
from services.agent.automations.allowed import check_allowed, hash_of, reads_of
from services.agent.automations.domain import APP, KEPT_TALKS, LONGEST_RUN, fault_of
from services.agent.conversations.domain import Conversations, TurnRecord
from services.agent.loop.desk import Desk
from services.agent.notifications.kept import Notifications
from services.agent.owners.acting import Acting, acting
from services.agent.owners.deciders import Deciders
from services.agent.owners.domain import Me
from services.agent.tasks.domain import Run, Runs, RunState, Task
from shared.asking.carrying import instruction_hash
from shared.db import Database
from shared.errors import Conflict, Forbidden, NotFound, Refused, SchleuseError, Transient
from shared.tasks import spawn
from shared.telemetry import span

log = structlog.get_logger()
LAST_WORDS, AGAIN = 5.0, 1.0
SHOWN = 600
"""Characters of what a run brought that its notification shows."""
TOO_LONG = f"It took longer than {LONGEST_RUN.total_seconds() / 3600:.0f} hour and was ended."
STOPPED = "It was stopped while it ran; it is not run again by itself."
Who = Callable[[Owner, str], Awaitable[Me | None]]


@dataclass(frozen=True)
class Ended:
    """How a run went. `talk`: the conversation in which it was, if it came that far."""

    state: RunState
    output: str = ""
    error: str = ""
    talk: UUID | None = None


class AutomationRunner:
    """A part, and what the loop of tasks calls after it has claimed a run. `wake`: once a run is over, whatever became of it."""

    def __init__(
        self, db: Database, runs: Runs, desk: Desk, conversations: Conversations, deciders: Deciders, notifications: Notifications,
        who: Who, wake: Callable[[], None], restored_at: datetime | None = None,
    ) -> None:  # fmt: skip
        self._restored_at = restored_at
        self._db, self._runs, self._desk, self._conversations = db, runs, desk, conversations
        self._deciders, self._notifications, self._who, self._wake = deciders, notifications, who, wake
        self._running: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Nothing runs yet."""

    async def stop(self) -> None:
        """The turns were stopped by their desk, and written down; so are the runs."""
        if self._running:
            await asyncio.wait(tuple(self._running), timeout=AGAIN)
        for task in tuple(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(tuple(self._running), timeout=LAST_WORDS)

    @property
    def running(self) -> int:
        return len(self._running)

    async def begin(self, owner: Owner, task: Task, run: Run) -> None:
        """Returns at once; what becomes of it is written in its row."""
        made = spawn(self._run(owner, task, run), f"automation {task.task_id}")
        self._running.add(made)
        made.add_done_callback(self._running.discard)

    async def _run(self, owner: Owner, task: Task, run: Run) -> None:
        with span("agent automation"):
            try:
                async with asyncio.timeout(LONGEST_RUN.total_seconds()):
                    ended = await self._tried(owner, task, run)
            except TimeoutError:
                ended = Ended("failed", error=TOO_LONG)
            except asyncio.CancelledError:
                ended = Ended("interrupted", error=STOPPED)
            except SchleuseError as fault:
                ended = Ended("failed", error=fault.message)
            await self._end(owner, task, run, ended)

    async def _tried(self, owner: Owner, task: Task, run: Run) -> Ended:
        """Forbidden when it may not run any more, BadSignature when what stands behind it does not hold."""
        card = await self._allowed(owner, task)
        me = await self._who(owner, card.owner_name)
        if me is None:
            raise Forbidden("its owner may not come in any more", code="gone")
        record = await self._turn(replace(me, app=APP, zone=task.zone), task, run)
        if record.outcome == "aborted":
            return Ended("interrupted", record.reply, record.error or STOPPED, record.conversation_id)
        fault = fault_of(record, reads=reads_of(card))
        return Ended("failed" if fault else "done", record.reply, fault, record.conversation_id)

    async def _allowed(self, owner: Owner, task: Task) -> ActionCard:
        async with self._db.owned(owner) as tx:
            if self._restored_at and task.card_id and await store.is_unknown(tx, task.card_id, self._restored_at):
                raise Refused("This installation was just restored from a backup; resume it if it is still wanted.", code="restored")  # fmt: skip
            return await check_allowed(tx, self._deciders, owner, task.card_id, task.text)

    async def _turn(self, me: Me, task: Task, run: Run) -> TurnRecord:
        """The turn and all that its tools ask carry the automation's card and the hash of the very text that is carried out."""
        assert task.card_id is not None, "it was checked"
        digest = hash_of(task.text)
        talk = (await self._conversations.open(me, None)).conversation_id
        await self._conversations.rename(me, talk, task.title)
        if task.sources:
            await self._conversations.taint(me, talk, task.sources)
        tokens = acting.set(Acting(me.owner, task.card_id, digest)), instruction_hash.set(digest)
        try:
            ref = await self._desk.submit(me, talk, task.text)
        finally:
            acting.reset(tokens[0])
            instruction_hash.reset(tokens[1])
        record: TurnRecord | None = None
        try:
            if not await self._runs.begun(me.owner, task.task_id, run.nominal_at, talk, ref.turn_id):
                raise Conflict("this run was ended meanwhile", code="ended")
            record = await self._desk.wait(me, ref.turn_id)
        finally:
            if record is None:
                with suppress(SchleuseError):
                    await self._desk.stop_turn(me, talk)
        return record

    async def _end(self, owner: Owner, task: Task, run: Run, ended: Ended) -> None:
        """Tried until the database is there again: a run whose end is not known is nobody's."""
        while True:
            try:
                if await self._runs.ended(owner, task.task_id, run.nominal_at, ended.state, output=ended.output, error=ended.error):  # fmt: skip
                    await self._tell(owner, task, run, ended)
                break
            except Transient as fault:
                log.warning("automation.waits_for_the_database", error=fault.message)
                await asyncio.sleep(AGAIN)
        self._wake()
        with suppress(SchleuseError):
            await self._tidy(owner, task.task_id)

    async def _tell(self, owner: Owner, task: Task, run: Run, ended: Ended) -> None:
        """A failure once, as long as it stays the same one: what fails every five minutes is no news every five minutes."""
        link = f"/c/{ended.talk}" if ended.talk else "/tasks"
        if ended.state == "done":
            if task.notify:
                await self._notifications.add(owner, task.title, ended.output[:SHOWN], link=link, task_id=task.task_id)
            return
        async with self._db.owned(owner) as tx:
            before = await store.run_before(tx, owner, task.task_id, run.nominal_at)
        if before is None or (before["state"], before["error"]) != (ended.state, ended.error):
            words = f"It did not run: {ended.error}"
            await self._notifications.add(owner, task.title, words[:SHOWN], link=link, task_id=task.task_id)

    async def _tidy(self, owner: Owner, task_id: UUID) -> None:
        """What runs said is kept with them; of their conversations the newest."""
        me = Me(owner, "", "viewer")
        async with self._db.owned(owner) as tx:
            talks = await store.older_talks(tx, owner, task_id, KEPT_TALKS)
        for talk in talks:
            with suppress(NotFound):
                said = await self._conversations.messages(me, talk)
                if sum(each.part == "user" for each in said) <= 1:
                    await self._conversations.delete(me, talk)
