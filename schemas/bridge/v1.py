"""Events of the bridge: what it tells the console, and what it lets through to the site."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import (
    MAX_ATTACHMENT,
    Actor,
    Audience,
    Bytes64,
    Data,
    Hash,
    Instant,
    ItemState,
    Kind,
    Lang,
    Line,
    Slug,
    Text,
)
from schemas.statements import Signed


class Finding(Data):
    """What the lock found. `block` stops the item, `check` wants a look, `note` informs. `line` counts from 1."""

    level: Literal["block", "check", "note"]
    rule: Line
    message: Line
    line: int | None = None
    excerpt: Line = ""


class ItemQueued(Data):
    """A revision was inspected and waits for review. `version` is the item's authoritative version at the bridge."""

    item_id: UUID
    submission_id: UUID
    revision: int
    kind: Kind
    lang: Lang
    path: Slug
    title: Line
    audience: Audience
    content: Bytes64
    content_hash: Hash
    submitted_by: Actor
    findings: tuple[Finding, ...] = ()
    inspected_ms: Annotated[int, Field(ge=0)] = 0
    queued_at: Instant
    state: Literal["submitted", "rejected"] = "submitted"
    unchanged: bool = False
    version: int


class ItemMoved(Data):
    """An item's revision changed state: decided, published, superseded, withdrawn."""

    item_id: UUID
    revision: int
    state: ItemState
    verdict: Literal["approve", "reject", "request_changes", "withdraw"] | None = None
    by: Actor
    reason: Text = ""
    statement_hash: Hash | None = None
    gate_seq: int | None = None
    at: Instant
    version: int


class SubmissionRefused(Data):
    """The lock refused a submission before it became a revision."""

    submission_id: UUID
    item_id: UUID
    reason: Line
    findings: tuple[Finding, ...] = ()
    at: Instant


class DecisionRefused(Data):
    """The lock refused a decision, withdrawal or switch; nothing was changed. `state` and `version` are the present ones."""

    item_id: UUID | None = None
    statement_hash: Hash
    code: Literal[
        "conflict", "bad_signature", "four_eyes", "frozen", "unknown_item", "blocked", "revoked_key", "invalid"
    ]
    reason: Line
    state: ItemState | None = None
    version: int | None = None
    at: Instant


class SwitchApplied(Data):
    """A switch setting is in force at the lock."""

    name: Line
    value: Line
    by: Actor
    reason: Text
    at: Instant
    version: int


class KeyApplied(Data):
    """A decision key was added or revoked at the lock; it counts from this place in the gate's log on."""

    action: Literal["added", "revoked"]
    key_id: Line
    statement_hash: Hash
    gate_seq: int
    by: Actor
    reason: Text
    at: Instant


class ItemPublished(Data):
    """The receipt: the console's signed Decision, the gate's signed entry, and the exact content bytes."""

    item_id: UUID
    decision: Signed
    gate: Signed
    content: Bytes64


class ItemRetracted(Data):
    """A withdrawal in the gate's log: the console's signed Withdrawal and the gate's signed entry."""

    item_id: UUID
    withdrawal: Signed
    gate: Signed


class ModeEntered(Data):
    """The site's mode changed: the console's signed SwitchSetting and the gate's signed entry."""

    setting: Signed
    gate: Signed


class KeyRecorded(Data):
    """A decision key was added or revoked: the signed KeyChange and the gate's signed entry."""

    change: Signed
    gate: Signed


class HeadSealed(Data):
    """The newest head of the gate's log, signed by the gate key."""

    head: Signed


class PersonRecorded(Data):
    """What somebody may do at the surface that reads this: the console's signed Standing."""

    standing: Signed


class SessionClosed(Data):
    """A sign-in is over: the console's signed SessionEnd."""

    ending: Signed


class CheckpointCountersigned(Data):
    """A checkpoint of the call audit, with the lock's signed Witness."""

    checkpoint: Signed
    witness: Signed


class ProposalMoved(Data):
    """What became of the agent's proposal: a fact for whoever it was made for. `reason` is the person's who decided; the lock's findings are not told (S14)."""

    item_id: UUID
    submission_id: UUID
    kind: Kind
    lang: Lang
    path: Slug
    state: ItemState | Literal["refused", "unchanged"]
    revision: int
    reason: Text = ""
    at: Instant
    version: int


class AttachmentQueued(Data):
    """The bytes of one attachment that the lock has inspected, for the reviewer. They are exactly what will be published."""

    item_id: UUID
    hash: Hash
    data: Annotated[Bytes64, Field(max_length=MAX_ATTACHMENT)]


class AttachmentPublished(Data):
    """The bytes of one attachment of an approved revision. They count for what a signed decision names their hash."""

    item_id: UUID
    hash: Hash
    data: Annotated[Bytes64, Field(max_length=MAX_ATTACHMENT)]


class LinkRecorded(Data):
    """A share link is opened or closed: the console's signed LinkChange and the gate's signed entry."""

    item_id: UUID
    change: Signed
    gate: Signed


class LinkApplied(Data):
    """A change of a share link is in the gate's log."""

    link_id: UUID
    item_id: UUID
    action: Literal["open", "close"]
    statement_hash: Hash
    gate_seq: int
    by: Actor
    at: Instant
