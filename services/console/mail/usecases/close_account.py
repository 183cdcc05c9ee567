"""Its owner asked the agent to remove a mail account. It opens nothing: what can come of it is that the account is gone."""

from uuid import UUID

from schemas.agent.v1 import MailAccountClosed
from services.console.mail.usecases.remove_account import remove_account
from shared.db import Tx
from shared.errors import NotFound, Permanent


async def close_account(tx: Tx, closed: MailAccountClosed) -> bool:
    """False when it is gone already, or is nobody's of that name (rule 24). Permanent for an owner who cannot have one."""
    try:
        await remove_account(tx, _person(closed), closed.account_id, closed.at)
    except NotFound:
        return False
    return True


def _person(closed: MailAccountClosed) -> UUID:
    if closed.owner.kind != "user":
        raise Permanent("a mail account of a guest: guests have none")
    try:
        return UUID(closed.owner.id)
    except ValueError:
        raise Permanent("this owner of a mail account is no person of the console") from None
