"""A visitor filled in a form: the answer is kept for staff, once, and becomes a record where a person said so."""

from schemas.site.v1 import FormAnswered
from services.console.answers import store
from services.console.answers.usecases.place_answer import place_answer
from shared.db import Tx


async def record_answer(tx: Tx, data: FormAnswered) -> bool:
    """False when this answer came before."""
    if not await store.keep(tx, data):
        return False
    mapping = await store.mapping(tx, data.item_id, data.form)
    if mapping is not None:
        await place_answer(tx, data.model_dump(), mapping)
    return True
