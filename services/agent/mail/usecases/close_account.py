"""An owner wants a mail account gone. From here on nothing is asked of it; the console takes its secrets back (rule 15)."""

from datetime import datetime
from uuid import UUID

from schemas.agent.v1 import MailAccountClosed
from schemas.outward import Owner
from services.agent.mail import store
from shared.db import Tx
from shared.errors import NotFound


async def close_account(tx: Tx, owner: Owner, account_id: UUID, at: datetime) -> None:
    """NotFound for what is not theirs or is gone already (rule 24). The transaction acts for this owner."""
    if not await store.close(tx, owner, account_id, at):
        raise NotFound("There is no such mail account.", code="mail_account")
    data = MailAccountClosed(account_id=account_id, owner=owner, at=at)
    tx.stage("mail_account.closed", data, key=f"mail_account:{account_id}", version=1, actor=str(owner))
