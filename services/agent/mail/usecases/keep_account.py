"""The console says that somebody has a mail account, or has it no more. Without its passwords: those are the connectors'."""

from schemas.console.v1 import MailAccountStated
from services.agent.mail import store
from shared.db import Tx
from shared.errors import Permanent


async def keep_account(tx: Tx, stated: MailAccountStated) -> None:
    """Permanent for a guest's: guests have none (rule 15). What is deleted and was never here is not kept."""
    if stated.owner.kind != "user":
        raise Permanent("a mail account of a guest: guests have none")
    async with tx.acting_for(stated.owner):
        if stated.deleted:
            await store.close(tx, stated.owner, stated.account_id, stated.at)
            await store.note_version(tx, stated.owner, stated.account_id, stated.version)
        else:
            await store.keep(tx, stated)
