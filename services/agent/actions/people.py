"""Who the owner of an action card is now: with the role and zone that they have when it runs, not when it was asked."""

from typing import get_args
from uuid import UUID

from schemas.model import Role
from schemas.outward import Owner
from services.agent.owners import store as owners
from services.agent.owners.domain import Me
from services.agent.owners.zones import UTC
from shared.clock import now
from shared.db import Database
from shared.identity.store import standing

ROLES: tuple[Role, ...] = get_args(Role)


class People:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def now(self, owner: Owner, name: str) -> Me | None:
        """None for a guest, for whoever is not known here, and for whoever may not come in any more."""
        if owner.kind != "user":
            return None
        async with self._db.owned(owner) as tx:
            held, zone = await standing(tx, UUID(owner.id)), await owners.zone_of(tx, owner)
        if held is None or (held["until"] is not None and held["until"] <= now()):
            return None
        role = next((each for each in ROLES if each == held["role"]), None)
        return None if role is None else Me(owner, name, role, zone or UTC)
