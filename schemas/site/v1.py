"""Events of the public site."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Actor, Audience, Bytes64, Data, Hash, Instant, Lang, Line, Slug, Text

SignalKind = Literal["view", "vote", "reaction", "feedback"]
REACTIONS = ("thanks", "clear", "outdated", "confusing")


class Signal(Data):
    """One interaction. `item_id` is None for a path that is no item. `visitor` is the day's pseudonym (16 hex digits).

    `referrer`: the host that a view came from, nothing more. `link_id`: the share link that it came by.
    """

    signal_id: UUID
    kind: SignalKind
    item_id: UUID | None = None
    path: Annotated[Text, Field(max_length=2000)]
    visitor: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    at: Instant
    value: Literal[-1, 0, 1] = 0
    reaction: Literal["thanks", "clear", "outdated", "confusing"] | None = None
    text: Annotated[Text, Field(max_length=4000)] = ""
    referrer: Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9.:\[\]-]*$")] = ""
    link_id: UUID | None = None


class SignalsRecorded(Data):
    """A micro-batch: up to 100 signals. Each is validated alone as a Signal; a bad one is parked, the others pass."""

    batch_id: UUID
    signals: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]


class ItemApplied(Data):
    """The site has stored and verified an entry of the gate's log: what `live since` and `gone since` are read from."""

    item_id: UUID
    gate_seq: int
    effect: Literal["live", "gone"]
    revision: int | None = None
    content_hash: Hash | None = None
    applied_at: Instant


class GateRequested(Data):
    """The site asks for all entries after `after_seq` and for a fresh head that repeats `nonce`."""

    after_seq: Annotated[int, Field(ge=-1)]
    nonce: Line


class RowRejected(Data):
    """A row in the site's database is not covered by a valid receipt; it was not rendered."""

    item_id: UUID | None = None
    path: Slug | None = None
    reason: Line
    found_at: Instant


class CommentSubmitted(Data):
    """A visitor's words about an item, to be shown there when a person approves them. An item of kind `comment` like any other.

    `content`: ItemContent's canonical bytes with `about`; its title is the name that the visitor gave.
    """

    submission_id: UUID
    item_id: UUID
    kind: Literal["comment"] = "comment"
    lang: Lang
    path: Slug
    audience: Audience = "public"
    content: Bytes64
    content_hash: Hash
    submitted_by: Actor


class FormAnswered(Data):
    """What a visitor filled into a form of an item: for staff alone. `answers`: what was typed, by field name."""

    answer_id: UUID
    item_id: UUID
    form: Line
    visitor: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    answers: Annotated[dict[str, Annotated[Text, Field(max_length=4000)]], Field(max_length=30)]
    at: Instant
