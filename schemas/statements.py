"""Signed statements (S1, S6). The bytes that were signed are the record; nobody re-serialises them.

A statement names its purpose and its key; the purpose is also mixed into the signature, so a signature made for
one purpose is worth nothing for another. The person who decided is bound by a commitment (`decider`): SHA-256 of the
canonical `Opening`, which stays inside, so the public side can verify a decision without learning who made it.
"""

from typing import ClassVar, Literal, Self
from uuid import UUID

from schemas.model import Audience, Bytes64, Data, Hash, Instant, Kind, Lang, Line, Role, Slug, Text, Verdict
from schemas.text import BadJson, canonical, parse_json, sha256


class Signed(Data):
    """Exact payload bytes with an Ed25519 signature over `purpose NUL payload`."""

    payload: Bytes64
    signature: Bytes64
    key_id: Line

    @property
    def hash(self) -> str:
        return sha256(self.payload)


class Opening(Data):
    """What a `decider` commitment hides: who, by which way, why, and a nonce."""

    person_id: Line
    person_name: Line
    via: Line
    reason: Text
    nonce: Line

    @property
    def commitment(self) -> str:
        return sha256(canonical(self.model_dump(mode="json")))


class Statement(Data):
    """Base: `to_bytes` gives the canonical bytes to sign, `from_bytes` reads them back and refuses any other spelling."""

    PURPOSE: ClassVar[str]
    purpose: str
    key_id: Line

    def to_bytes(self) -> bytes:
        return canonical(self.model_dump(mode="json"))

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        value = parse_json(raw)
        found = cls.model_validate(value)
        if found.purpose != cls.PURPOSE:
            raise BadJson(f"a statement for {found.purpose!r} was used as {cls.PURPOSE!r}")
        if found.to_bytes() != raw:
            raise BadJson("the statement is not in canonical form")
        return found


class Decision(Statement):
    """A person's verdict over one exact revision (S1). Signed by the console's decision key."""

    PURPOSE: ClassVar[str] = "schleuse.decision.v1"
    purpose: Literal["schleuse.decision.v1"] = "schleuse.decision.v1"
    item_id: UUID
    revision: int
    content_hash: Hash
    attachments: tuple[Hash, ...] = ()
    kind: Kind
    lang: Lang
    path: Slug
    audience: Audience
    verdict: Verdict
    publish_at: Instant | None = None
    expire_at: Instant | None = None
    decided_at: Instant
    decider: Hash
    prior_version: int


class Withdrawal(Statement):
    """A person takes a published (or approved) item back. Signed by the console's decision key."""

    PURPOSE: ClassVar[str] = "schleuse.withdrawal.v1"
    purpose: Literal["schleuse.withdrawal.v1"] = "schleuse.withdrawal.v1"
    item_id: UUID
    decided_at: Instant
    decider: Hash
    prior_version: int


class Undo(Statement):
    """A person takes a decision back within ten minutes. Signed by the console's decision key.

    The revision waits for review again. If the decision was an approval, this is its withdrawal: in the gate's log it stands
    as one, and the site treats it as one. `undoes` is the hash of the Decision taken back.
    """

    PURPOSE: ClassVar[str] = "schleuse.undo.v1"
    purpose: Literal["schleuse.undo.v1"] = "schleuse.undo.v1"
    item_id: UUID
    revision: int
    undoes: Hash
    decided_at: Instant
    decider: Hash
    prior_version: int


def taken_back_by(payload: bytes) -> type[Withdrawal] | type[Undo]:
    """Which of the two ways to take something back a statement says it is; the signature is verified for that one."""
    value = parse_json(payload)
    return Undo if isinstance(value, dict) and value.get("purpose") == Undo.PURPOSE else Withdrawal


class SwitchSetting(Statement):
    """A switch was set. Signed by the console's decision key."""

    PURPOSE: ClassVar[str] = "schleuse.switch.v1"
    purpose: Literal["schleuse.switch.v1"] = "schleuse.switch.v1"
    name: Literal["publication_mode", "site_mode", "four_eyes"]
    value: Line
    decided_at: Instant
    decider: Hash
    prior_version: int


class LinkChange(Statement):
    """A person opens a share link to one published item with audience `link`, or closes it (rule 29). Signed by the console's decision key.

    `token_hash`: SHA-256 of the token, which stands nowhere. An entry of the gate's log, so that no restored backup opens it again.
    """

    PURPOSE: ClassVar[str] = "schleuse.link.v1"
    purpose: Literal["schleuse.link.v1"] = "schleuse.link.v1"
    link_id: UUID
    item_id: UUID
    action: Literal["open", "close"]
    token_hash: Hash
    expires_at: Instant
    decided_at: Instant
    decider: Hash
    prior_version: int


class KeyChange(Statement):
    """The install's operator adds or revokes a decision key. Signed by the key that stays."""

    PURPOSE: ClassVar[str] = "schleuse.key.v1"
    purpose: Literal["schleuse.key.v1"] = "schleuse.key.v1"
    action: Literal["added", "revoked"]
    subject_key_id: Line
    subject_public_key: Line
    decided_at: Instant
    decider: Hash


class Standing(Statement):
    """What somebody may do at one surface, from now on. Signed by the console's identity key.

    `subject` is who it is at that surface: for the site a name that says nothing and is used nowhere else. `role` None: not
    welcome any more. Sessions begun before `sessions_from` are over. A guest is let in by a link, whose token hashes to
    `link_hash`, until `until`. `version` counts the standings of this subject; an older one never replaces a newer.
    """

    PURPOSE: ClassVar[str] = "schleuse.standing.v1"
    purpose: Literal["schleuse.standing.v1"] = "schleuse.standing.v1"
    audience: Literal["agent", "site"]
    subject: UUID
    role: Role | Literal["guest"] | None
    sessions_from: Instant
    link_hash: Hash | None = None
    until: Instant | None = None
    version: int
    decided_at: Instant


class SessionEnd(Statement):
    """A person signed out in one browser: what was begun at this surface from that sign-in is over. Signed by the identity key."""

    PURPOSE: ClassVar[str] = "schleuse.session-end.v1"
    purpose: Literal["schleuse.session-end.v1"] = "schleuse.session-end.v1"
    audience: Literal["agent", "site"]
    sid: UUID
    decided_at: Instant


class GateEntry(Statement):
    """One link of the gate's log (S6), signed by the bridge's gate key.

    `previous` is the SHA-256 of the entry before it (64 zeros for the first). `statement_hash` is the hash of the
    console's statement that caused the entry; `content_hash` is set for a publication.
    """

    PURPOSE: ClassVar[str] = "schleuse.gate.v1"
    purpose: Literal["schleuse.gate.v1"] = "schleuse.gate.v1"
    seq: int
    previous: Hash
    entry: Literal["publication", "withdrawal", "site_mode", "key", "link"]
    item_id: UUID | None = None
    statement_hash: Hash
    content_hash: Hash | None = None
    at: Instant


class GateHead(Statement):
    """The newest entry's place and hash at a time: an hourly heartbeat, and the answer to a site that asks."""

    PURPOSE: ClassVar[str] = "schleuse.head.v1"
    purpose: Literal["schleuse.head.v1"] = "schleuse.head.v1"
    seq: int
    head: Hash
    at: Instant
    nonce: Line = ""


FIRST = "0" * 64
"""`previous` of the first entry, and the head of an empty log."""
