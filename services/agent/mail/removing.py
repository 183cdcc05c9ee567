"""A mail account is given up: nothing is asked of it any more, and the console takes its secrets back (rule 15)."""

from services.agent.mail.arguments import RemoveArguments
from services.agent.mail.domain import MailAccount, named
from services.agent.mail.post import Post
from services.agent.mail.usecases.close_account import close_account
from services.agent.tools.domain import Asked, Found
from shared.clock import now
from shared.db import Database


class Removing:
    def __init__(self, db: Database, post: Post) -> None:
        self._db, self._post = db, post

    async def exact(self, asked: Asked, given: RemoveArguments) -> RemoveArguments:
        return RemoveArguments(account=(await self._account(asked, given)).label)

    async def remove(self, asked: Asked, given: RemoveArguments) -> Found:
        account = await self._account(asked, given)
        async with self._db.owned(asked.me.owner) as tx:
            await close_account(tx, asked.me.owner, account.account_id, now())
        return Found({"removed": account.label}, f"removed the mail account {account.label}")

    async def _account(self, asked: Asked, given: RemoveArguments) -> MailAccount:
        """Also one that only reads or only sends."""
        return named(await self._post.accounts(asked.me), given.account)
