"""A person signs out."""

from services.console.people import store
from shared.db import Tx


async def sign_out(tx: Tx, token_hash: str) -> None:
    await store.end_session(tx, token_hash)
