"""Signed statements about the way out (S1, S5, S10): connectors, secrets, cards, delegations, and the call audit's checkpoints.

Like those of schemas.statements: the bytes that were signed are the record. A person's statements are signed by the console's decision
key and verified twice, by the lock that lets them through and by the connectors that act on them.
"""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Hash, Instant, Line, Text
from schemas.statements import Statement
from schemas.text import canonical, sha256

Asker = Literal["agent", "console", "site"]
"""Who may ask the connectors (S10). The lock asks nobody, and connectors do not ask themselves."""
ASKERS: tuple[Asker, ...] = ("agent", "console", "site")
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
"""What a connector or a secret is called."""
SecretType = Literal["api_key", "basic", "oauth2", "imap", "smtp", "signing_key"]
Host = Annotated[str, Field(min_length=1, max_length=270)]
"""`host:port`, the host in its ASCII form, lower case; `*.example.com:443` names sub-names, never the name itself."""


class Owner(Data):
    """Whose it is: a person or a guest of the workplace."""

    kind: Literal["user", "guest"]
    id: Annotated[str, Field(min_length=1, max_length=200)]

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


class SecretPlace(Data):
    """Where a secret lies and who may use it: exactly this surface through exactly this connector (rule 16), for this owner or for no owner."""

    surface: Asker
    connector: Name
    owner: Owner | None = None
    name: Name

    def __str__(self) -> str:
        """The subject of its statements, and what the audit calls it: `agent/llm/openai`, `agent/mail/user:7/inbox`."""
        owner = f"{self.owner}/" if self.owner else ""
        return f"{self.surface}/{self.connector}/{owner}{self.name}"


class SecretChange(Statement):
    """A person puts a secret, or changes what counts of it. Signed by the console's decision key.

    put: version 1, or after a revocation the next one. rotate: the next version; the one before it opens until `overlap_until`.
    restore: `version` (an earlier one, not revoked) is in use again. revoke: all versions (`version` 0) or one of them; final.
    narrow: `operations` from now on, fewer than before. `sealed_hash` is that of the age file (put, rotate). `public` is what a
    list may show of it (host, port, user name): never a value. `prior_version` counts the changes of this secret.
    """

    PURPOSE: ClassVar[str] = "schleuse.secret.v1"
    purpose: Literal["schleuse.secret.v1"] = "schleuse.secret.v1"
    action: Literal["put", "rotate", "restore", "revoke", "narrow"]
    place: SecretPlace
    type: SecretType
    version: Annotated[int, Field(ge=0)]
    public: dict[Name, Line] = Field(default_factory=dict)
    operations: tuple[Line, ...] = ()
    sealed_hash: Hash | None = None
    overlap_until: Instant | None = None
    expires_at: Instant | None = None
    decided_at: Instant
    decider: Hash
    prior_version: Annotated[int, Field(ge=0)]


class ConnectorSetting(Statement):
    """A person declares a connector, changes its settings, or turns it on or off. Signed by the console's decision key.

    `settings`: canonical JSON of the kind's own settings, without any secret. `prior_version` counts the settings of this connector.
    """

    PURPOSE: ClassVar[str] = "schleuse.connector.v1"
    purpose: Literal["schleuse.connector.v1"] = "schleuse.connector.v1"
    name: Name
    kind: Name
    settings: Text
    enabled: bool
    decided_at: Instant
    decider: Hash
    prior_version: Annotated[int, Field(ge=0)]


class Card(Data):
    """What a person is asked to allow, built from recorded facts alone (S5). `hosts` are in their ASCII form.

    What is listed is what is missing: allowed, `asker` may do `operations` of `connector` towards `hosts` with `secrets` (from any
    person's point of view: each is granted on its own, and later calls need no card for it). `quoted` is the asker's own text:
    clean, at most 500 characters, and never a source of facts. `facts`: what else is recorded, as name and value.
    """

    card_id: UUID
    subject: Literal["use", "host", "secret", "operation"]
    asker: Asker
    on_behalf_of: Owner | None = None
    connector: Name
    kind: Name
    operations: tuple[Line, ...] = ()
    hosts: tuple[Host, ...] = ()
    secrets: tuple[SecretPlace, ...] = ()
    facts: tuple[tuple[Line, Line], ...] = ()
    quoted: Annotated[str, Field(max_length=500)] = ""
    requested_at: Instant
    expires_at: Instant

    @property
    def hash(self) -> str:
        return sha256(canonical(self.model_dump(mode="json")))


class CardDecision(Statement):
    """A person's decision on one card, bound to exactly what it says. Signed by the console's decision key.

    allow and refuse are given once; revoke takes either back: what was allowed is not any more, what was refused may be asked again.
    """

    PURPOSE: ClassVar[str] = "schleuse.card.v1"
    purpose: Literal["schleuse.card.v1"] = "schleuse.card.v1"
    card_id: UUID
    card_hash: Hash
    verdict: Literal["allow", "refuse", "revoke"]
    decided_at: Instant
    decider: Hash


class Delegation(Statement):
    """`audience` may act for `owner` (S10). Signed by the console's identity key.

    `operations`: `connector.operation`, exact. An automation's is bound to its card and to the hash of its instruction.
    """

    PURPOSE: ClassVar[str] = "schleuse.delegation.v1"
    purpose: Literal["schleuse.delegation.v1"] = "schleuse.delegation.v1"
    delegation_id: UUID
    owner: Owner
    audience: Asker
    operations: Annotated[tuple[Line, ...], Field(min_length=1)]
    issued_at: Instant
    expires_at: Instant
    card_id: UUID | None = None
    instruction_hash: Hash | None = None


class Checkpoint(Statement):
    """How long the call audit is and what its newest entry hashes to (rule 17). Signed by the connectors' audit key.

    `size` entries, numbered from 0; `root` is the hash of entry `size - 1`, which commits to all before it.
    """

    PURPOSE: ClassVar[str] = "schleuse.checkpoint.v1"
    purpose: Literal["schleuse.checkpoint.v1"] = "schleuse.checkpoint.v1"
    size: Annotated[int, Field(ge=1)]
    root: Hash
    at: Instant


class Witness(Statement):
    """The lock has seen a checkpoint, and none that contradicts it. Signed by the bridge's witness key."""

    PURPOSE: ClassVar[str] = "schleuse.witness.v1"
    purpose: Literal["schleuse.witness.v1"] = "schleuse.witness.v1"
    checkpoint_hash: Hash
    size: Annotated[int, Field(ge=1)]
    root: Hash
    at: Instant
