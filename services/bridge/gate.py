"""The lock's two duties with keys: whose decisions count, and the signed, chained log of what went out (S1, S6)."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, TypeVar
from uuid import UUID

from schemas.statements import FIRST, GateEntry, GateHead, KeyChange, Signed, Statement
from services.bridge.domain import Refusal
from shared.errors import BadSignature
from shared.signing import PublicKeys, SigningKey, key_id_of

S = TypeVar("S", bound=Statement)
EntryKind = Literal["publication", "withdrawal", "site_mode", "key", "link"]


class KeyRecord(NamedTuple):
    """A decision key that was added or revoked since the installation."""

    action: str
    key_id: str
    public_key: str


class Head(NamedTuple):
    """The newest entry's place and hash; the empty log is at -1."""

    seq: int = -1
    hash: str = FIRST


@dataclass(frozen=True)
class Sealed:
    """An entry of the gate's log, signed, with the bytes it commits to."""

    seq: int
    kind: EntryKind
    entry: Signed
    previous: str
    statement: Signed
    item_id: UUID | None
    revision: int | None


class DecisionKeys:
    """The decision keys that count: the installation's and the added ones, without the revoked ones."""

    def __init__(self, keys: PublicKeys) -> None:
        self._keys = keys

    def learn(self, records: Sequence[KeyRecord]) -> None:
        """Take in the keys that were added; their signatures can be checked from now on."""
        for each in records:
            if each.action == "added" and each.key_id not in self._keys.ids("decision"):
                self._keys.add("decision", each.key_id, base64.b64decode(each.public_key))

    def verify(self, signed: Signed, kind: type[S], records: Sequence[KeyRecord]) -> S | Refusal:
        """The statement, when a key that counts signed exactly these bytes for this purpose."""
        self.learn(records)
        if signed.key_id in revoked(records):
            return Refusal("revoked_key", f"decision key {signed.key_id} was revoked; its signatures no longer count")
        try:
            return self._keys.verify("decision", signed, kind)
        except BadSignature as error:
            return Refusal("bad_signature", error.message[:400])

    def judge_change(self, change: KeyChange, records: Sequence[KeyRecord]) -> Refusal | None:
        """Whether a verified KeyChange counts: a key never revokes itself, and a revoked key never comes back."""
        known = self._keys.ids("decision")
        if change.subject_key_id == change.key_id:
            return Refusal("invalid", "a key cannot add or revoke itself; the key that stays signs")
        if change.subject_key_id in revoked(records):
            return Refusal("conflict", f"decision key {change.subject_key_id} was already revoked, which is final")
        if change.action == "revoked" and change.subject_key_id not in known:
            return Refusal("invalid", f"no decision key is named {change.subject_key_id}")
        if change.action == "revoked":
            return None
        if change.subject_key_id in known:
            return Refusal("conflict", f"decision key {change.subject_key_id} is already in force")
        return _judge_public_key(change)


def _judge_public_key(change: KeyChange) -> Refusal | None:
    try:
        raw = base64.b64decode(change.subject_public_key, validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    if len(raw) == 32 and key_id_of(raw) == change.subject_key_id:
        return None
    return Refusal("invalid", "the public key is not the base64 of 32 bytes that its id belongs to")


def revoked(records: Sequence[KeyRecord]) -> frozenset[str]:
    return frozenset(each.key_id for each in records if each.action == "revoked")


class Gate:
    """Signs entries and heads with the gate key. Where an entry goes in the chain is the caller's, under the lock."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def entry(
        self,
        head: Head,
        kind: EntryKind,
        statement: Signed,
        at: datetime,
        item_id: UUID | None = None,
        revision: int | None = None,
        content_hash: str | None = None,
    ) -> Sealed:
        """The entry after `head`."""
        signed = self._key.sign(
            GateEntry(
                key_id=self._key.key_id,
                seq=head.seq + 1,
                previous=head.hash,
                entry=kind,
                item_id=item_id,
                statement_hash=statement.hash,
                content_hash=content_hash,
                at=at,
            )
        )
        return Sealed(head.seq + 1, kind, signed, head.hash, statement, item_id, revision)

    def head(self, head: Head, at: datetime, nonce: str = "") -> Signed:
        """The signed head, with the nonce of whoever asked for it."""
        return self._key.sign(GateHead(key_id=self._key.key_id, seq=head.seq, head=head.hash, at=at, nonce=nonce))
