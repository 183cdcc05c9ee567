"""How the owner wants the agent to be, as it goes before every turn."""

from services.agent.habits import store
from services.agent.habits.domain import HEADING, Behavior
from services.agent.loop.preface import Words
from services.agent.owners.domain import Me
from shared.db import Database


class BehaviorPreface:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def __call__(self, me: Me) -> Words | None:
        """None: nothing special. What came of untrusted text says so, and taints the conversation that it goes before (S11)."""
        if me.is_guest:
            return None
        async with self._db.owned(me.owner) as tx:
            found: Behavior = await store.behavior(tx, me.owner)
        return Words(HEADING, found.text, found.sources) if found.text else None
