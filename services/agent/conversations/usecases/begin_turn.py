"""Accept a turn, or say that too many wait (rule 4)."""

from uuid import UUID

from asyncpg import UniqueViolationError

from schemas.outward import Owner
from services.agent.conversations.domain import MOST_WAITING
from services.agent.conversations.store import hold
from services.agent.conversations.texts import check_message
from services.agent.conversations.turns.store import add_waiting, count_open
from shared.db import Tx
from shared.errors import Conflict, TooMany


async def begin_turn(
    tx: Tx, owner: Owner, worker: str, conversation_id: UUID, turn_id: UUID, text: str, app: str
) -> int:
    """How many turns are before it. Refused or TooLarge for the text, NotFound, TooMany (code `busy`), Conflict for a turn that is there."""
    check_message(text)
    await hold(tx, owner, conversation_id)
    before = await count_open(tx, owner, conversation_id)
    if before > MOST_WAITING:
        raise TooMany(
            f"{MOST_WAITING} messages wait in this conversation already. Send it again when one is answered.",
            code="busy",
        )
    try:
        await add_waiting(tx, owner, worker, conversation_id, turn_id, text, app)
    except UniqueViolationError:
        raise Conflict("this turn has begun already") from None
    return before
