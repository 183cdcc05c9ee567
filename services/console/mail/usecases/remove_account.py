"""A mail account is gone: the agent is told at once; the row stays, deleted, and its secrets are revoked right after (`revoke_left`)."""

from datetime import datetime
from uuid import UUID

from services.console.mail import store
from services.console.mail.domain import Account
from services.console.mail.usecases.state_account import state_account
from shared.db import Tx
from shared.errors import NotFound


async def remove_account(tx: Tx, person_id: UUID, account_id: UUID, at: datetime) -> Account:
    """NotFound for what is not theirs, or is gone (rule 24)."""
    account = await store.one(tx, person_id, account_id)
    if account is None:
        raise NotFound("There is no such mail account.", code="mail_account")
    version = await store.close(tx, account, at)
    state_account(tx, account, at, version, deleted=True)
    return account
