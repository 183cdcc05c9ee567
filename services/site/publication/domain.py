"""What the site accepts as published: rows that hang on the gate's log (S1, S6). Pure.

The content is the content that was judged, and everything shown is read from the signed bytes.
"""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from pydantic import ValidationError

from schemas.content import Attachment, ItemContent
from schemas.model import Audience
from schemas.statements import Decision, Signed
from schemas.text import BadJson, sha256
from services.site.publication.chain import BadReceipt, Entered


@dataclass(frozen=True)
class Row:
    """A row of `entries` as it lies in the database: nothing in it is believed before `check_row` has seen it."""

    item_id: UUID
    seq: int
    kind: str
    lang: str
    path: str
    audience: str
    content_hash: str
    statement: Signed
    gate: Signed
    content: bytes = field(repr=False)
    xmin: str = ""


@dataclass(frozen=True)
class Published:
    """What the site may show, read from the signed decision. The content itself stays in the database."""

    item_id: UUID
    seq: int
    entry_hash: str
    statement_hash: str
    content_hash: str
    kind: str
    lang: str
    path: str
    audience: Audience
    revision: int
    title: str
    summary: str
    decided_at: datetime
    published_at: datetime
    expire_at: datetime | None
    attachments: tuple[Attachment, ...] = ()
    about: UUID | None = None
    """Of a comment: the item under which it is shown."""

    @property
    def url(self) -> str:
        return f"/{self.kind}/{self.lang}/{self.path}"

    @property
    def stamp(self) -> tuple[int, str]:
        """Changes with every publication of the item."""
        return self.seq, self.entry_hash

    def has_ended(self, at: datetime) -> bool:
        """Whether the time until which it was approved has come."""
        return self.expire_at is not None and at >= self.expire_at


def read_content(raw: bytes, content_hash: str, *, again: bool = False) -> ItemContent:
    """The content that was judged; BadReceipt when these are other bytes. `again`: that they are in canonical form was seen as they came, and is
    seen once more before they are shown.
    """
    if sha256(raw) != content_hash:
        raise BadReceipt("the content is not the content that was approved")
    try:
        return ItemContent.model_validate_json(raw) if again else ItemContent.from_bytes(raw)
    except (BadJson, ValidationError) as error:
        raise BadReceipt(f"the content is not readable: {error}") from None


def published(entered: Entered, content: bytes, *, again: bool = False) -> Published:
    """What may be shown of a verified publication; BadReceipt when the content is not the one that was judged. `again`: as in `read_content`."""
    decision = entered.statement
    assert isinstance(decision, Decision)
    shown = read_content(content, decision.content_hash, again=again)
    if tuple(each.hash for each in shown.attachments) != decision.attachments:
        raise BadReceipt("the decision names other attachments than the content")
    if (decision.kind == "comment") != (shown.about is not None):
        raise BadReceipt("a comment names the item that it is about, and nothing else does")
    return Published(
        item_id=decision.item_id,
        seq=entered.entry.seq,
        entry_hash=entered.hash,
        statement_hash=entered.link.statement.hash,
        content_hash=decision.content_hash,
        kind=decision.kind,
        lang=decision.lang,
        path=decision.path,
        audience=decision.audience,
        revision=decision.revision,
        title=shown.title,
        summary=shown.summary,
        decided_at=decision.decided_at,
        published_at=entered.entry.at,
        expire_at=decision.expire_at,
        attachments=shown.attachments,
        about=shown.about,
    )


def check_row(row: Row, current: Entered | None, *, again: bool = False) -> Published:
    """What may be shown of a row. `current`: the item's newest entry in the verified log. BadReceipt says what is wrong. `again`: as in `read_content`."""
    if current is None:
        raise BadReceipt("the gate's log has no entry for this row")
    if not isinstance(current.statement, Decision):
        raise BadReceipt("the item was withdrawn")
    if row.seq != current.entry.seq:
        raise BadReceipt(f"the row is entry {row.seq}, the item's newest entry is {current.entry.seq}")
    if row.gate != current.link.gate or row.statement != current.link.statement:
        raise BadReceipt("the row's signatures are not those of the gate's log")
    found = published(current, row.content, again=again)
    shown = (found.item_id, found.kind, found.lang, found.path, found.audience, found.content_hash)
    if (row.item_id, row.kind, row.lang, row.path, row.audience, row.content_hash) != shown:
        raise BadReceipt("the row's columns say something else than the signed decision")
    return found
