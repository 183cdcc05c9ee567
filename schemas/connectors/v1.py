"""Events of the connectors."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.model import Data, Hash, Instant, Line, Text
from schemas.outward import Card, Name, SecretPlace, SecretType
from schemas.statements import Signed


class CallAudited(Data):
    """One entry of the call audit: who called what, and how it ended. Never a body, never a value of a secret."""

    entry_id: UUID
    seq: int
    at: Instant
    asker: Line
    on_behalf_of: Line = ""
    connector: Line
    operation: Line
    target: Line
    outcome: Literal["ok", "failed", "refused"]
    status: Line = ""
    duration_ms: Annotated[int, Field(ge=0)] = 0
    bytes_out: Annotated[int, Field(ge=0)] = 0
    bytes_in: Annotated[int, Field(ge=0)] = 0
    trace_id: Line = ""


class SecretVersion(Data):
    """One version of a secret. It opens while it is in use, and until `usable_until` after it was replaced."""

    version: int
    state: Literal["current", "replaced", "revoked"]
    sealed_hash: Hash
    put_at: Instant
    expires_at: Instant | None = None
    usable_until: Instant | None = None


class SecretApplied(Data):
    """What counts of a secret at the connectors. Never a value. `version` counts its changes, `current` is the version in use (0: none)."""

    place: SecretPlace
    type: SecretType
    state: Literal["active", "revoked"]
    current: int
    versions: tuple[SecretVersion, ...]
    public: dict[Name, Line] = Field(default_factory=dict)
    operations: tuple[Line, ...] = ()
    statement_hash: Hash
    at: Instant
    version: int


class ConnectorApplied(Data):
    """A connector's declaration is in force. `hosts` is its allow-list."""

    name: Name
    kind: Name
    enabled: bool
    hosts: tuple[Line, ...]
    settings: Text
    statement_hash: Hash
    at: Instant
    version: int


class ConnectorChecked(Data):
    """A connector's health changed: it answers, or why it does not. `version` counts the checks that said something new."""

    name: Name
    ok: bool
    reason: Line = ""
    at: Instant
    version: int


class CardRequested(Data):
    """Somebody waits for a person's decision."""

    card: Card


class CardSettled(Data):
    """A card's state at the connectors: what was decided is in force, or nobody decided in time."""

    card_id: UUID
    asker: Line
    state: Literal["allowed", "refused", "revoked", "expired"]
    statement_hash: Hash | None = None
    at: Instant
    version: int


class ChangeRefused(Data):
    """The connectors did not take a person's statement; nothing was changed."""

    statement_hash: Hash
    code: Line
    reason: Line
    at: Instant


class CheckpointSigned(Data):
    """A signed Checkpoint of the call audit."""

    checkpoint: Signed


class Fingerprint(Data):
    """A secret value (or one of its encodings) as the lock may know it: keyed hashes of its first 12 bytes and of all `length` bytes.

    `spaced`: there are spaces or line breaks within its first 12 bytes.
    """

    length: Annotated[int, Field(ge=12)]
    first: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    whole: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    spaced: bool = False


class FingerprintsTaken(Data):
    """The whole set of fingerprints, made with the installation's present fingerprint key (S14), in `parts` events of one version.

    `mac`: keyed hash over the canonical form of all other fields; without the key nobody makes, shortens or renews a set.
    """

    key_id: Line
    part: Annotated[int, Field(ge=1)] = 1
    parts: Annotated[int, Field(ge=1)] = 1
    entries: Annotated[tuple[Fingerprint, ...], Field(max_length=5000)]
    at: Instant
    version: int
    mac: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
