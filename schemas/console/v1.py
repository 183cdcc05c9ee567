"""Events of the console."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import MAX_ATTACHMENT, Actor, Audience, Bytes64, Data, Hash, Instant, Kind, Lang, Line, Slug, Text
from schemas.outward import Owner
from schemas.statements import Opening, Signed
from schemas.work import AppDeclaration, AppSlug


class ItemSubmitted(Data):
    """A new item or a new revision of one, for review at the lock. `content` is ItemContent's canonical bytes."""

    submission_id: UUID
    item_id: UUID
    kind: Kind
    lang: Lang
    path: Slug
    audience: Audience = "public"
    content: Bytes64
    content_hash: Hash
    submitted_by: Actor


class AttachmentSubmitted(Data):
    """The bytes of one attachment of a submission; the content names its hash. The item is shown only when all have arrived (rule 5)."""

    submission_id: UUID
    item_id: UUID
    hash: Hash
    data: Annotated[Bytes64, Field(max_length=MAX_ATTACHMENT)]


class ItemDecided(Data):
    """A reviewer's signed Decision, with the opening of its commitment for the inside record."""

    item_id: UUID
    statement: Signed
    opening: Opening


class ItemWithdrawn(Data):
    """A signed Withdrawal."""

    item_id: UUID
    statement: Signed
    opening: Opening


class ItemUndone(Data):
    """A signed Undo: a decision of the last ten minutes is taken back."""

    item_id: UUID
    statement: Signed
    opening: Opening


class SwitchSet(Data):
    """A signed SwitchSetting (publication mode, four eyes, site mode)."""

    statement: Signed
    opening: Opening


class KeyChanged(Data):
    """A signed KeyChange."""

    statement: Signed
    opening: Opening


class PersonChanged(Data):
    """Signed Standings, one for each surface that it concerns."""

    standings: tuple[Signed, ...]


class SessionEnded(Data):
    """Signed SessionEnds, one for each surface where something was begun from this sign-in."""

    endings: tuple[Signed, ...]


class SecretSealed(Data):
    """A signed SecretChange. `sealed`: the age file of a new version, made before anything was stored or staged; nobody but the connectors opens it."""

    statement: Signed
    opening: Opening
    sealed: Bytes64 | None = None


class ConnectorDeclared(Data):
    """A signed ConnectorSetting."""

    statement: Signed
    opening: Opening


class CardDecided(Data):
    """A signed CardDecision."""

    card_id: UUID
    statement: Signed
    opening: Opening


class SettingDecided(Data):
    """A signed AgentSetting."""

    statement: Signed
    opening: Opening


class ActionDecided(Data):
    """A signed ActionDecision."""

    card_id: UUID
    statement: Signed
    opening: Opening


class AccessStated(Data):
    """A signed Access: a key of the agent's API is good, or is not any more."""

    access: Signed


class DelegationIssued(Data):
    """A signed Delegation: the agent may act for its owner."""

    delegation: Signed


class RecordShared(Data):
    """Staff let the agent read a record. `source` says whose text it is: a visitor's and an outsider's is never trusted (S11)."""

    record_id: UUID
    kind: Line
    title: Line
    text: Annotated[Text, Field(max_length=256 * 1024)]
    source: Literal["staff", "visitor", "outside"]
    shared_by: Actor
    at: Instant
    version: int


class RecordUnshared(Data):
    """The agent may read a record no more."""

    record_id: UUID
    by: Actor
    at: Instant
    version: int


class MailAccountStated(Data):
    """A person has a mail account, or has it no more. Its passwords are secrets of that owner, agent, connector and `secret` (rules 15, 16)."""

    account_id: UUID
    owner: Owner
    label: Line
    connector: Line
    secret: Line
    address: Line
    reads: bool
    sends: bool
    deleted: bool = False
    at: Instant
    version: Annotated[int, Field(ge=1)]


class LinkChanged(Data):
    """A signed LinkChange: a share link is opened or closed."""

    item_id: UUID
    statement: Signed
    opening: Opening


class AppStated(Data):
    """What the agent may know of an app: its tables and columns, no rows. `shared` False: it may know of it no more."""

    slug: AppSlug
    shared: bool
    declaration: AppDeclaration | None = None
    at: Instant
    version: Annotated[int, Field(ge=1)]


class ProposalAnswered(Data):
    """How it stands with an app, a record or a job that the agent proposed. Figures that could not be had are None (rule 30).

    `rows`, `bytes`: what the dry run of a job found; `undated`: rows that stay because the column is empty. `next`: a job's next runs.
    """

    proposal_id: UUID
    owner: Owner
    about: Literal["app", "record", "job"]
    state: Literal["waiting", "accepted", "refused", "failed", "ended"]
    reason: Text = ""
    rows: Annotated[int, Field(ge=0)] | None = None
    bytes: Annotated[int, Field(ge=0)] | None = None
    undated: Annotated[int, Field(ge=0)] | None = None
    understood: Line = ""
    next: Annotated[tuple[Instant, ...], Field(max_length=5)] = ()
    at: Instant
    version: Annotated[int, Field(ge=1)]


class ColumnFingerprinted(Data):
    """Keyed fingerprints of one internal column's values, for the lock's inspection (S14): what came and what went since `sequence - 1`.

    `added`, `removed`: 8 bytes each, one after the other. `whole`: all that were there before are forgotten first. `complete`: with this
    event the lock knows everything there is; until then nothing of this key can be trusted to be found. `dropped`: the column is gone.
    """

    column_id: UUID
    label: Line
    key_id: Line
    sequence: Annotated[int, Field(ge=1)]
    whole: bool = False
    complete: bool = True
    dropped: bool = False
    added: Annotated[Bytes64, Field(max_length=480_000)] = b""
    removed: Annotated[Bytes64, Field(max_length=80_000)] = b""
    at: Instant
    mac: Hash
