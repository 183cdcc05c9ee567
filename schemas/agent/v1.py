"""Events of the agent."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.agency import ActionCard, Money, SettingName
from schemas.model import MAX_ATTACHMENT, Actor, Audience, Bytes64, Data, Hash, Instant, Kind, Lang, Line, Slug, Text
from schemas.outward import Owner
from schemas.work import AppDeclaration, AppSlug, CleanupJob, SqlName

Count = Annotated[int, Field(ge=0)]


class ItemProposed(Data):
    """The agent proposes an item; it waits for a person like any other (rule 20)."""

    submission_id: UUID
    item_id: UUID
    kind: Kind
    lang: Lang
    path: Slug
    audience: Audience = "public"
    content: Bytes64
    content_hash: Hash
    submitted_by: Actor


class Usage(Data):
    """One row of the usage ledger. Figures that could not be had are None, never 0 (rule 30); `cost` None: not known.

    `kind`: settled as the provider's figures say; `aborted`: given up, priced by what was produced; `expired`: nobody knows what became of
    it. `estimated`: the figures are ours, not the provider's. `app`: chat, api, or a task's name; `purpose`: reply, title, summary, tool.
    """

    call_id: UUID
    turn_id: UUID
    owner: Owner
    at: Instant
    settled_at: Instant
    kind: Literal["settled", "aborted", "expired"]
    connector: Line
    model: Line
    surface: Line
    app: Line
    purpose: Line
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    tokens_cached: Count | None = None
    cost: Money | None = None
    estimated: bool = False


class UsageRecorded(Data):
    """Rows of the usage ledger as they were written. Identities and figures, no text."""

    rows: Annotated[tuple[Usage, ...], Field(min_length=1, max_length=500)]


class SettingApplied(Data):
    """A setting of the agent is in force, or was not taken and why. `version` counts the settings of this name and subject."""

    name: SettingName
    subject: Line
    value: Line
    outcome: Literal["applied", "refused"]
    reason: Line = ""
    statement_hash: Hash
    at: Instant
    version: int


class ActionRequested(Data):
    """The agent waits for a person's decision on what it would do in a tainted conversation."""

    card: ActionCard


class ActionSettled(Data):
    """What became of an action card: done, failed as it was tried, refused, nobody decided in time, or (an automation) taken back."""

    card_id: UUID
    state: Literal["done", "failed", "refused", "expired", "revoked"]
    reason: Line = ""
    statement_hash: Hash | None = None
    at: Instant
    version: int


class AutomationStated(Data):
    """How it stands with an automation that a person allowed. `version` counts what was said of it. No word of what it does: the card has that."""

    task_id: UUID
    card_id: UUID
    owner: Owner
    instruction_hash: Hash
    state: Literal["active", "paused", "ended"]
    reason: Line = ""
    zone: Line
    next_at: Instant | None = None
    at: Instant
    version: Annotated[int, Field(ge=1)]


class MailAccountClosed(Data):
    """The owner wants an account gone: the console takes its secrets back (rule 15)."""

    account_id: UUID
    owner: Owner
    at: Instant


class AttachmentProposed(Data):
    """The bytes of one attachment of what the agent proposed; the content names its hash."""

    submission_id: UUID
    item_id: UUID
    hash: Hash
    data: Annotated[Bytes64, Field(max_length=MAX_ATTACHMENT)]


class Wish(Data):
    """What every proposal to the console says: for whom, why, out of which conversation and turn. `sources`: what untrusted text the conversation had read (S11)."""

    proposal_id: UUID
    owner: Owner
    owner_name: Line
    conversation_id: UUID | None = None
    turn_id: UUID | None = None
    why: Annotated[Text, Field(max_length=2000)] = ""
    sources: tuple[Line, ...] = ()
    at: Instant


class AppProposed(Wish):
    """The agent proposes an app of plain tables, or more tables and columns for one that is there."""

    declaration: AppDeclaration


class RecordProposed(Wish):
    """The agent proposes rows of an app's table: new ones, or other values for one. `rows`: canonical JSON, a list of objects; at most 64 KiB.

    `keys`: for changed rows, canonical JSON of what names each row, in the same order; empty: all are new.
    """

    app: AppSlug
    table: SqlName
    rows: Annotated[Text, Field(max_length=64 * 1024)]
    keys: Annotated[Text, Field(max_length=16 * 1024)] = ""


class JobProposed(Wish):
    """The agent proposes a cleanup job. Nothing is deleted before a person has seen its dry run and switched it on."""

    job: CleanupJob
