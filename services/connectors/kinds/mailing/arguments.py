"""What each operation takes. Unknown parameters are errors; texts from a program with NUL or lone surrogates are refused (rule 19)."""

import base64
import binascii
import re
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from services.connectors.kinds.mailing.addresses import Address, parse
from services.connectors.kinds.mailing.compose import File
from services.connectors.kinds.mailing.reading import MOST_TEXT
from services.connectors.kinds.mailing.text import check_line, check_name, check_text
from services.connectors.kinds.mailing.words import decode_words
from shared.errors import Refused

MOST_RECIPIENTS = 100
MOST_REFERENCES = 50
_MESSAGE_ID = re.compile(r"<[!-;=?A-~]{1,480}@[!-;=?A-~]{1,480}>")
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,60}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")


def _line(found: str) -> str:
    """Pydantic names the field; typed errors pass it untouched."""
    check_line("this text", found, 500)
    return found


Uid = Annotated[int, Field(ge=1, le=2**32 - 1)]
Uids = Annotated[list[Uid], Field(min_length=1, max_length=100)]
Words = Annotated[str, Field(max_length=500), AfterValidator(_line)]
FolderName = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_line)]
FlagName = Annotated[str, Field(pattern=r"^(seen|flagged|answered|\$?[A-Za-z][A-Za-z0-9_-]{0,40})$")]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Folders(_Arguments):
    pass


class _InFolder(_Arguments):
    folder: FolderName = "INBOX"


class List(_InFolder):
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    offset: Annotated[int, Field(ge=0)] = 0


class Search(_InFolder):
    """What is given must all hold. `since` and `before`: days, by the server's clock."""

    text: Words = ""
    sender: Annotated[Words, Field(alias="from")] = ""
    to: Words = ""
    subject: Words = ""
    body: Words = ""
    since: date | None = None
    before: date | None = None
    seen: bool | None = None
    flagged: bool | None = None
    answered: bool | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class _OfMessage(_InFolder):
    """`uidvalidity` as it was listed: numbers of another one are of other messages."""

    uidvalidity: int | None = None


class Read(_OfMessage):
    uid: Uid
    most_text: Annotated[int, Field(ge=1, le=MOST_TEXT)] = MOST_TEXT


class Attachment(_OfMessage):
    uid: Uid
    number: Annotated[int, Field(ge=1)]


class Flag(_OfMessage):
    uids: Uids
    add: list[FlagName] = []
    remove: list[FlagName] = []


class Move(_OfMessage):
    """`to`: a folder that is there, as `folders` shows it."""

    uids: Uids
    to: FolderName


class Mailbox(_Arguments):
    address: str
    name: str = ""


class Attached(_Arguments):
    """`content` is base64."""

    name: str
    type: str = "application/octet-stream"
    content: str


class Send(_Arguments):
    """`to`, `cc`, `bcc`, `reply_to`: an address, or {"address", "name"}; one recipient for each entry.

    `confirmed`: all recipients once more, in their ASCII form; needed when one of them may look like another address.
    """

    to: Annotated[list[str | Mailbox], Field(max_length=MOST_RECIPIENTS)] = []
    cc: Annotated[list[str | Mailbox], Field(max_length=MOST_RECIPIENTS)] = []
    bcc: Annotated[list[str | Mailbox], Field(max_length=MOST_RECIPIENTS)] = []
    reply_to: Annotated[list[str | Mailbox], Field(max_length=10)] = []
    from_name: str = ""
    subject: str = ""
    text: str
    in_reply_to: str = ""
    references: Annotated[list[str], Field(max_length=MOST_REFERENCES)] = []
    attachments: Annotated[list[Attached], Field(max_length=50)] = []
    confirmed: Annotated[list[str], Field(max_length=3 * MOST_RECIPIENTS)] | None = None


def read_mailboxes(what: str, given: list[str | Mailbox]) -> tuple[Address, ...]:
    """Refused (codes `address`, `header`)."""
    found = [each if isinstance(each, Mailbox) else Mailbox(address=each) for each in given]
    return tuple(parse(f"{what} {number}", each.address, each.name) for number, each in enumerate(found, start=1))


def read_subject(given: str) -> str:
    """Decoded first, then checked: an encoded word may hold a line break (EM-02)."""
    check_line("the subject", given, 500)
    decoded = decode_words(given)
    check_line("the subject, decoded,", decoded, 500)
    return decoded


def read_message_ids(what: str, given: list[str]) -> tuple[str, ...]:
    for each in given:
        check_line(what, each, 990)
        if not _MESSAGE_ID.fullmatch(each.strip()):
            raise Refused(f"{what} is no message id; write it as it was read, <…@…>", code="header")
    return tuple(each.strip() for each in given)


def read_files(given: list[Attached]) -> tuple[File, ...]:
    return tuple(_file(f"attachment {number}", each) for number, each in enumerate(given, start=1))


def _file(what: str, given: Attached) -> File:
    check_name(f"the name of {what}", given.name, 255)
    name = decode_words(given.name)
    check_name(f"the name of {what}, decoded,", name, 255)
    if not name.strip(". ") or "/" in name or "\\" in name or len(name.encode()) > 255:
        raise Refused(f"the name of {what} must be a file's name without folders, of at most 255 bytes", code="header")
    if not _TYPE.fullmatch(given.type) or given.type.startswith(("multipart/", "message/")):
        raise Refused(f"the type of {what} must be like image/png", code="header")
    try:
        return File(name, given.type, base64.b64decode(given.content, validate=True))
    except (binascii.Error, ValueError):
        raise Refused(f"the content of {what} is no base64", code="arguments") from None


def check_body(text: str) -> None:
    check_text("the text", text)
