"""What the HTTP API takes and gives, as it stands in its OpenAPI document."""

from base64 import b64decode
from datetime import datetime
from typing import Annotated, Any, get_args
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter

from schemas.model import MAX_ATTACHMENTS, Audience, Hash, Kind, Lang, Slug, Verdict
from services.console.queue.domain import LIMIT
from shared.attachments import TYPES
from shared.errors import Refused

MOST = 2**31 - 1


def said_of(kind: Any) -> dict[str, Any]:
    """What the contract says of a type, for readers of the document; a request that does not fit is refused with better words than a pattern."""
    return {name: each for name, each in TypeAdapter(kind).json_schema().items() if name != "type"}


class Problem(BaseModel):
    """Every error: what is wrong and what to do; `code` is for programs."""

    code: str
    message: str
    trace_id: str = ""


class NewAttachment(BaseModel):
    """A file that goes with an item. Pictures are made anew, without what else was in their files, and smaller where they have more than 640 KiB."""

    name: str = Field(examples=["gate.png"], max_length=200, description=f"Ends in one of {', '.join(sorted(TYPES))}.")
    data: str = Field(
        examples=["YSxiCg=="], description="The bytes, in base64.", json_schema_extra={"contentEncoding": "base64"}
    )

    @property
    def raw(self) -> bytes:
        try:
            return b64decode(self.data, validate=True)
        except ValueError:
            raise Refused(f"{self.name}: the data is not base64.", code="attachments") from None


class NewItem(BaseModel):
    """Markdown for the lock. Path: segments between slashes; the same kind, language and path is a new revision."""

    kind: str = Field(examples=["doc"], json_schema_extra={"enum": list(get_args(Kind))})
    lang: str = Field(examples=["de"], description="A BCP 47 language tag.", json_schema_extra=said_of(Lang))
    path: str = Field(examples=["guide/first-steps"], json_schema_extra=said_of(Slug))
    audience: Audience = Field("public", description="Everybody who can reach the site, or members only.")
    markdown: str = Field(description=f"At most {LIMIT}; a title as first heading or in front matter.")
    attachments: list[NewAttachment] = Field(
        [], max_length=MAX_ATTACHMENTS, description="Pictures and files; the text shows a picture by its name."
    )


class Submission(BaseModel):
    """What the lock said: queued, unchanged, refused (with reason), or sent when it has not answered yet."""

    submission_id: UUID
    item_id: UUID
    path: str
    state: str
    revision: int | None = None
    reason: str | None = None
    url: str


class NewDecision(BaseModel):
    """Names revision and content, so that it never applies to something else than what was seen."""

    verdict: Verdict
    revision: Annotated[int, Field(ge=1, le=MOST)]
    content_hash: Hash
    reason: str = Field("", description="Needed to reject and to ask for changes.")
    version: Annotated[int, Field(ge=1, le=MOST)] | None = Field(
        None, description="The item's version as it was seen; a conflict when it has moved on."
    )
    publish_at: AwareDatetime | None = Field(
        None, description="With approve: when it becomes public, at most 5 years ahead. Without it at once."
    )
    expire_at: AwareDatetime | None = Field(
        None, description="With approve: when it is taken down, after publish_at. Without it never."
    )


class NewUndo(BaseModel):
    """Takes a verdict of the last ten minutes back; the revision waits again, and what was public is withdrawn."""

    statement_hash: Hash | None = Field(
        None, description="Of the decision, as its answer named it; without it the newest one on the item."
    )
    reason: str = ""


class NewWithdrawal(BaseModel):
    """Takes back what is public and what is scheduled."""

    reason: str = ""
    version: Annotated[int, Field(ge=1, le=MOST)] | None = Field(
        None, description="The item's version as it was seen; a conflict when it has moved on."
    )


class Outcome(BaseModel):
    """applied, refused (with the lock's reason), or sent when the lock has not answered yet."""

    item_id: UUID
    statement_hash: str
    outcome: str
    reason: str = ""


class Item(BaseModel):
    """One item as the console sees it."""

    item_id: UUID
    kind: str
    lang: str
    path: str
    audience: str
    title: str
    state: str
    revision: int
    content_hash: str
    version: int
    submitted_by: str
    published_revision: int | None
    scheduled_revision: int | None
    publish_at: datetime | None
    scheduled_until: datetime | None
    expire_at: datetime | None
    live_revision: int | None
    live_since: datetime | None
    url: str
