"""A person's action cards, to be given to them or deleted here. That something was done, and how it ended, stays without a word of it."""

from collections.abc import AsyncIterator

from schemas.outward import Owner
from schemas.text import canonical, parse_json
from services.agent.actions import store
from services.agent.actions.usecases.forget_actions import forget_actions
from shared.clock import now
from shared.db import Database


class ActionsHolding:
    """What waits for a person is refused as it goes, so that nobody decides on what is not there."""

    name = "actions"
    tables: frozenset[str] = frozenset({"action_cards", "action_decisions", "action_revocations"})

    def __init__(self, db: Database) -> None:
        self._db = db

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        async with self._db.owned(owner) as tx:
            cards = [parse_json(raw) for raw in await store.cards(tx, owner)]
        if cards:
            yield "action_cards.json", canonical(cards)

    async def forget(self, owner: Owner) -> int:
        async with self._db.owned(owner) as tx:
            return await forget_actions(tx, owner, now())
