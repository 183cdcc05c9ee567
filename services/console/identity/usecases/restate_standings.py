"""At start: tell the surfaces of everybody who can sign in and whom they were not told of (an older installation)."""

from services.console.identity import store
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_person
from services.console.people.domain import check_role
from shared.clock import now
from shared.db import Tx


async def restate_standings(tx: Tx, issuer: Issuer, at_most: int) -> int:
    """How many were told of now; 0 when nobody is left. Two instances that start together tell of nobody twice."""
    rows, at = await store.untold_people(tx, at_most), now()
    for row in rows:
        if not await store.is_told(tx, row["id"]):
            await state_person(tx, issuer, row["id"], check_role(row["role"]), at, row["created_at"])
    return len(rows)
