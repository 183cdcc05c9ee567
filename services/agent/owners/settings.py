"""The agent's settings in this process: loaded and verified at start, and in step with what people decide, in every instance within a second."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

import structlog
from asyncpg import Record

from schemas.agency import AgentSetting
from schemas.outward import Owner
from schemas.statements import KeyChange, Opening, Signed
from services.agent.owners import store
from services.agent.owners.rules import Rules
from shared.db import Database, Tx
from shared.db.notices import Notices
from shared.decision_keys import DecisionKeys
from shared.errors import SchleuseError, Transient
from shared.health import Health
from shared.signing import PublicKeys
from shared.tasks import cancel, spawn

log = structlog.get_logger()
TOPIC, HEALTH = "settings", "settings"
LOOK = 0.5
"""Seconds. A notice can be lost with the instance that was about to send it; a lower cap counts within one all the same."""
PURPOSES = (KeyChange.PURPOSE, AgentSetting.PURPOSE)
Listener = Callable[[], None]


class AgentSettings:
    """A part. Read without waiting; only ever what is durable. `listeners` are called when something has changed."""

    def __init__(self, db: Database, keys: PublicKeys, notices: Notices, health: Health) -> None:
        self._db, self._keys, self._notices, self._health = db, keys, notices, health
        self._rules = Rules()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.listeners: list[Listener] = []
        notices.on(TOPIC, lambda _: self._news.set())

    async def start(self) -> None:
        await self.catch_up()
        self._task = spawn(self._follow(), "agent settings")

    async def stop(self) -> None:
        await cancel(self._task)

    def cap_of(self, account: Owner) -> Decimal | None:
        """US dollars in a rolling day (rule 1); None: no limit."""
        return self._rules.cap_of(account)

    def model(self) -> tuple[str, str] | None:
        """(connector, model); None: the built-in one."""
        return self._rules.model()

    def may_propose(self) -> bool:
        """Whether the agent may propose items for publication."""
        return self._rules.may_propose()

    def written(self, tx: Tx) -> None:
        """Called by whoever kept a statement in `tx`: this and the other instances take it in once it is durable."""
        tx.after_commit(self._news.set)
        tx.after_commit(lambda: self._notices.tell(TOPIC))

    async def catch_up(self) -> None:
        """While it is shut it looks at every turn whether that was cleared up, so that nobody has to start it again."""
        before = self._rules
        async with self._db.reading() as tx:
            if await store.newest_position(tx) == before.position and not before.shut:
                return
            self._rules = await read_rules(tx, self._keys)
        if self._rules == before:
            return
        self._say()
        for each in self.listeners:
            each()

    def _say(self) -> None:
        if self._rules.shut:
            log.error("settings.not_believed", position=self._rules.position)
            why = "a statement in core.statements does not hold: nothing paid is done until it is cleared up"
            self._health.set(HEALTH, False, why)
        else:
            self._health.set(HEALTH, True, "")

    async def _follow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._news.wait()
            self._news.clear()
            with suppress(Transient):  # the database is away, and looked at again
                await self.catch_up()


async def read_rules(tx: Tx, keys: PublicKeys) -> Rules:
    """What is in force as `tx` sees it, every statement verified by the keys that counted when it came. Shut when one does not hold."""
    rules, counting = Rules(position=await store.newest_position(tx)), DecisionKeys(keys.copy())
    for row in await store.statements_after(tx, 0, PURPOSES):
        try:
            _enter(rules, counting, row)
        except SchleuseError:
            rules.shut = True
    return rules


def _enter(rules: Rules, keys: DecisionKeys, row: Record) -> None:
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    if row["purpose"] == KeyChange.PURPOSE:
        keys.enter(keys.verify(signed, KeyChange))
        return
    opening = Opening(**{name: row[name] for name in Opening.model_fields})
    setting = keys.verify_by(signed, opening, AgentSetting)
    rules.check(setting)
    rules.enter(setting)
