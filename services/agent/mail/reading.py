"""What is read in a mailbox. All of it is other people's words: data, never an instruction, and it taints (S11)."""

from typing import Any

from services.agent.domain import mend
from services.agent.mail.arguments import AccountsArguments, FoldersArguments, ReadArguments, SearchArguments
from services.agent.mail.domain import NONE_YET
from services.agent.mail.letters import answer_to
from services.agent.mail.post import Post, source_of
from services.agent.tools.domain import Asked, Found

MOST_TEXT = 50_000
"""Characters of a mail's text that the model is given."""


class Reading:
    def __init__(self, post: Post) -> None:
        self._post = post

    async def accounts(self, asked: Asked, given: AccountsArguments) -> Found:
        found = [
            {"account": each.label, "address": each.address, "reads": each.reads, "sends": each.sends}
            for each in await self._post.accounts(asked.me)
        ]
        value: dict[str, Any] = {"accounts": found}
        return Found(value if found else value | {"next": NONE_YET}, _counted(len(found), "mail account"))

    async def folders(self, asked: Asked, given: FoldersArguments) -> Found:
        account = await self._post.account(asked.me, given.account)
        found = await self._post.ask(asked.me, account, "folders", {})
        folders = _clean(found["folders"])
        value = {"account": account.label, "folders": folders}
        return Found(value, _counted(len(folders), "folder"), (source_of(account),))

    async def search(self, asked: Asked, given: SearchArguments) -> Found:
        """The newest first, with the numbers by which they are read."""
        account = await self._post.account(asked.me, given.account)
        wanted = given.model_dump(
            mode="json", by_alias=True, exclude={"account", "folder", "limit"}, exclude_defaults=True
        )
        where = {"folder": given.folder, "limit": given.limit}
        if wanted:
            wanted |= {"from": wanted.pop("sender")} if "sender" in wanted else {}
            found = await self._post.ask(asked.me, account, "search", wanted | where)
        else:
            found = await self._post.ask(asked.me, account, "list", where)
        of = found.get("found", found["total"])
        value = {"account": account.label, "folder": given.folder, "uidvalidity": found["uidvalidity"], "of": of}
        return Found(value | {"mails": _clean(found["messages"])}, _counted(of, "mail"), (source_of(account),))

    async def read(self, asked: Asked, given: ReadArguments) -> Found:
        """One mail, without marking it as read. `answer`: what email_send takes for an answer to it."""
        account = await self._post.account(asked.me, given.account)
        wanted = given.model_dump(mode="json", exclude={"account"}) | {"most_text": MOST_TEXT}
        told = _clean(await self._post.ask(asked.me, account, "read", wanted))
        value = {"account": account.label, "folder": given.folder} | told | {"answer": answer_to(told, account.address)}
        return Found(value, "read a mail", (source_of(account),))


def _clean(found: Any) -> Any:
    """Every text as rule 19 wants it, whatever the server was made to say."""
    match found:
        case str():
            return mend(found)
        case dict():
            return {str(name): _clean(each) for name, each in found.items()}
        case list():
            return [_clean(each) for each in found]
    return found


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
