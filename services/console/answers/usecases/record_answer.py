"""A visitor filled in a form: the answer is kept for staff, once."""

from schemas.site.v1 import FormAnswered
from services.console.answers import store
from shared.db import Tx


async def record_answer(tx: Tx, data: FormAnswered) -> bool:
    """False when this answer came before."""
    return await store.keep(tx, data)
