"""What the mail tools take. Whether an address, a header or a folder will do, the connectors say; here are sizes."""

from datetime import date
from typing import Annotated

from pydantic import Field

from services.agent.tools.domain import Arguments

Uid = Annotated[int, Field(ge=1, le=2**32 - 1)]
Uids = Annotated[tuple[Uid, ...], Field(min_length=1, max_length=100)]
Folder = Annotated[str, Field(min_length=1, max_length=500)]
Address = Annotated[str, Field(min_length=3, max_length=1020)]
Flag = Annotated[str, Field(pattern=r"^(seen|flagged|answered)$")]
MOST_RECIPIENTS = 100


class AccountsArguments(Arguments):
    pass


class OfAccount(Arguments):
    """`account`: its label or address; empty where there is only one."""

    account: str = Field(default="", max_length=300)


class FoldersArguments(OfAccount):
    pass


class SearchArguments(OfAccount):
    """What is given must all hold; nothing given: the newest mails. `since`, `before`: days."""

    folder: Folder = "INBOX"
    text: str = Field(default="", max_length=500)
    sender: str = Field(default="", max_length=500)
    to: str = Field(default="", max_length=500)
    subject: str = Field(default="", max_length=500)
    since: date | None = None
    before: date | None = None
    seen: bool | None = None
    flagged: bool | None = None
    answered: bool | None = None
    limit: int = Field(default=20, ge=1, le=50)


class OfMessage(OfAccount):
    """`uid` and `uidvalidity` as email_search gives them."""

    folder: Folder = "INBOX"
    uid: Uid
    uidvalidity: int | None = None


class ReadArguments(OfMessage):
    pass


class Recipient(Arguments):
    address: Address
    name: str = Field(default="", max_length=200)


class Attached(Arguments):
    """`path`: a file of the workspace. `sha256`: of its content, where that must be just this."""

    path: str = Field(min_length=1, max_length=1000)
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")


Recipients = Annotated[tuple[Address | Recipient, ...], Field(max_length=MOST_RECIPIENTS)]


class SendArguments(OfAccount):
    """One recipient for each entry. For an answer: `subject`, `in_reply_to` and `references` as email_read gives them under `answer`.

    `confirmed`: recipients in their ASCII form that the user has written so themself; needed when an address may be taken for another one.
    """

    to: Recipients = ()
    cc: Recipients = ()
    bcc: Recipients = ()
    reply_to: Annotated[tuple[Address | Recipient, ...], Field(max_length=10)] = ()
    from_name: str = Field(default="", max_length=200)
    subject: str = Field(default="", max_length=2000)
    text: str = Field(max_length=48 * 1024)
    in_reply_to: str = Field(default="", max_length=1000)
    references: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    attachments: Annotated[tuple[Attached, ...], Field(max_length=20)] = ()
    confirmed: Annotated[tuple[Address, ...], Field(max_length=3 * MOST_RECIPIENTS)] = ()


class OfMessages(OfAccount):
    folder: Folder = "INBOX"
    uids: Uids
    uidvalidity: int | None = None


class FlagArguments(OfMessages):
    """`add`, `remove`: seen (read), flagged (starred), answered."""

    add: tuple[Flag, ...] = ()
    remove: tuple[Flag, ...] = ()


class MoveArguments(OfMessages):
    """`to`: a folder that is there."""

    to: Folder


class SaveArguments(OfMessage):
    """`number` as email_read counts attachments. `path`: where in the workspace; empty: in mail/ under its own name."""

    number: int = Field(ge=1, le=10_000)
    path: str = Field(default="", max_length=1000)


class RemoveArguments(OfAccount):
    account: str = Field(min_length=1, max_length=300)
