"""Take one lesson away."""

from schemas.outward import Owner
from services.agent.lessons import store
from shared.db import Tx
from shared.errors import NotFound


async def drop_lesson(tx: Tx, owner: Owner, lesson_id: int) -> None:
    """NotFound when the owner has none of that number, whoever else has (rule 24)."""
    if not await store.drop(tx, owner, lesson_id):
        raise NotFound(f"there is no lesson {lesson_id}")
