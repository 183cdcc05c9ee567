"""The base of all event data: unknown fields are refused, never dropped in silence."""

from base64 import b64decode, b64encode
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from schemas.text import text_fault

MAX_CONTENT = 512 * 1024
"""Bytes of an item's canonical content (rule 5)."""
MAX_EVENT = 900 * 1024
"""Bytes of an event with its headers (rule 5)."""


class Data(BaseModel):
    """Event data. Frozen; extra fields are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


def _clean(text: str) -> str:
    fault = text_fault(text)
    if fault:
        raise ValueError(fault)
    return text


def _decode(value: object) -> object:
    return b64decode(value, validate=True) if isinstance(value, str) else value


Text = Annotated[str, AfterValidator(_clean)]
"""Text without NUL and lone surrogates (rule 19)."""
Line = Annotated[str, Field(max_length=500), AfterValidator(_clean)]
"""One short line of text."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 as lower-case hex."""
Bytes64 = Annotated[
    bytes, BeforeValidator(_decode), PlainSerializer(lambda raw: b64encode(raw).decode(), return_type=str)
]
"""Exact bytes, base64 in JSON."""
MAX_ATTACHMENT = 640 * 1024
"""Bytes of one attachment (rule 5)."""
MAX_ATTACHMENTS = 20
"""Of one item (rule 5)."""
Kind = Literal["page", "doc", "report", "announcement", "comment"]
"""A comment is a visitor's words about another item; it is shown there and has no page of its own."""
PageKind = Literal["page", "doc", "report", "announcement"]
"""What has a page of its own, and may be submitted or proposed."""
Audience = Literal["public", "members", "link"]
"""link: reached by a share link alone, and in no list, feed, sitemap or search (rule 29)."""
Role = Literal["owner", "admin", "moderator", "member", "viewer"]
"""What a person of the workplace may do, most first."""
Verdict = Literal["approve", "reject", "request_changes"]
ItemState = Literal[
    "submitted", "approved", "rejected", "changes_requested", "scheduled", "published", "superseded", "withdrawn"
]
Lang = Annotated[
    str,
    Field(
        min_length=2,
        max_length=35,
        pattern=r"^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*|[XxIi](-[A-Za-z0-9]{1,8})+)$",
    ),
]
"""A BCP 47 language tag, private (`x-…`) and grandfathered (`i-…`) ones too."""
Slug = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^/\x00-\x20\\?#%]+(/[^/\x00-\x20\\?#%]+)*$")]
"""An item's path: segments without spaces, control characters, `\\ ? # %`; no leading or trailing slash."""


def _instant(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("a time needs its offset")
    return value


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


Instant = Annotated[datetime, AfterValidator(_instant), PlainSerializer(_rfc3339, return_type=str, when_used="json")]
"""A time with offset; microseconds, UTC in JSON."""


class Actor(Data):
    """Who did it: a person of the console, the operator at the machine, an agent or a service."""

    id: Line
    name: Line
    via: Literal["console", "api", "operator", "agent", "service", "visitor"] = "console"
