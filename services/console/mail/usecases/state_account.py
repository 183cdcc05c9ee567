"""The agent is told of a mail account: what it is called, never how one signs in."""

from datetime import datetime

from schemas.console.v1 import MailAccountStated
from services.console.mail.domain import Account
from shared.db import Tx


def state_account(tx: Tx, account: Account, at: datetime, version: int, *, deleted: bool = False) -> None:
    data = MailAccountStated(
        account_id=account.account_id,
        owner=account.owner,
        label=account.label,
        connector=account.connector,
        secret=account.secret,
        address=account.address,
        reads=account.reads,
        sends=account.sends,
        deleted=deleted,
        at=at,
        version=version,
    )
    tx.stage("mail_account.stated", data, key=f"mail_account:{account.account_id}", version=version)
