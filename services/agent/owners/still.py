"""Who somebody is by now: what they sent may have waited for its turn while it was decided that they may do less."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import get_args
from uuid import UUID

from schemas.model import Role
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db import Database
from shared.errors import Refused
from shared.identity.store import standing

ROLES: tuple[Role, ...] = get_args(Role)
Still = Callable[[Me, datetime], Awaitable[Me]]


class StillThere:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def __call__(self, me: Me, since: datetime) -> Me:
        """With what was decided since then, if that is less. Refused (code `gone`) for whoever may not come in any more. Guests are as they were."""
        if me.is_guest:
            return me
        async with self._db.reading() as tx:
            held = await standing(tx, UUID(me.owner.id))
        if held is None:
            return me
        if held["role"] is None or (held["until"] is not None and held["until"] <= now()):
            raise Refused("You may not use the agent any more. Nothing was done.", code="gone")
        role = next((each for each in ROLES if each == held["role"]), None)
        if role is None or held["decided_at"] <= since or me.role not in ROLES:
            return me
        return replace(me, role=max(me.role, role, key=ROLES.index))
