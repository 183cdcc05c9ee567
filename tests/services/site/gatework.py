"""The console and the gate as the site meets them: keys of the test's own, and entries that continue a log."""

import secrets
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from schemas.bridge.v1 import HeadSealed, ItemPublished, ItemRetracted, KeyRecorded, ModeEntered
from schemas.content import ItemContent
from schemas.model import Data
from schemas.statements import (
    FIRST,
    Decision,
    GateEntry,
    GateHead,
    KeyChange,
    Signed,
    Statement,
    SwitchSetting,
    Undo,
    Withdrawal,
)
from schemas.text import sha256
from services.site.publication.chain import Link
from shared.clock import now
from shared.ids import item_id
from shared.signing import PublicKeys, SigningKey
from tests.factories.identity import Console

D = TypeVar("D", bound=Data)
DECIDER = sha256(b"somebody inside")


def new_key() -> SigningKey:
    return SigningKey(secrets.token_bytes(32))


@dataclass
class Gatework:
    """`log` keeps what was entered: (event name, data), to be sent again."""

    decider: SigningKey = field(default_factory=new_key)
    gate: SigningKey = field(default_factory=new_key)
    seq: int = -1
    hash: str = FIRST
    log: list[tuple[str, Data]] = field(default_factory=list)
    people: Console = field(default_factory=lambda: Console("site"))

    @property
    def keys(self) -> PublicKeys:
        return PublicKeys(
            {
                "decision": {self.decider.key_id: self.decider.public},
                "gate": {self.gate.key_id: self.gate.public},
                "identity": {self.people.key.key_id: self.people.key.public},
            }
        )

    def decision(
        self, path: str = "tutorial/body", body: str = "Text.", by: SigningKey | None = None, **changed: Any
    ) -> tuple[Signed, bytes]:
        """A signed approval and the content it is about."""
        key = by or self.decider
        raw = ItemContent(title=changed.pop("title", path), summary=changed.pop("summary", ""), body=body).to_bytes()
        kind, lang = changed.get("kind", "doc"), changed.get("lang", "en")
        fields = {
            "key_id": key.key_id,
            "item_id": item_id(kind, lang, path),
            "revision": 1,
            "content_hash": sha256(raw),
            "kind": kind,
            "lang": lang,
            "path": path,
            "audience": "public",
            "verdict": "approve",
            "decided_at": now(),
            "decider": DECIDER,
            "prior_version": 1,
        }
        return key.sign(Decision(**{**fields, **changed})), raw

    def enter(
        self, entry: str, statement: Signed, item: UUID | None = None, content: str | None = None, **changed: Any
    ) -> Signed:
        """The gate's signed entry behind the last one."""
        fields = {
            "key_id": self.gate.key_id,
            "seq": self.seq + 1,
            "previous": self.hash,
            "entry": entry,
            "item_id": item,
            "statement_hash": statement.hash,
            "content_hash": content,
            "at": now(),
        }
        sealed = self.gate.sign(GateEntry(**{**fields, **changed}))
        self.seq, self.hash = GateEntry.from_bytes(sealed.payload).seq, sealed.hash
        return sealed

    def publish(self, path: str = "tutorial/body", body: str = "Text.", **changed: Any) -> ItemPublished:
        statement, raw = self.decision(path, body, **changed)
        decision = Decision.from_bytes(statement.payload)
        gate = self.enter("publication", statement, decision.item_id, decision.content_hash)
        return self._log(
            "item.published", ItemPublished(item_id=decision.item_id, decision=statement, gate=gate, content=raw)
        )

    def retract(self, item: UUID) -> ItemRetracted:
        statement = self._sign(
            Withdrawal(key_id=self.decider.key_id, item_id=item, decided_at=now(), decider=DECIDER, prior_version=2)
        )
        gate = self.enter("withdrawal", statement, item)
        return self._log("item.retracted", ItemRetracted(item_id=item, withdrawal=statement, gate=gate))

    def undo(self, item: UUID, about: UUID | None = None) -> ItemRetracted:
        """The approval of an item, taken back."""
        fields = {"item_id": about or item, "revision": 1, "undoes": "0" * 64, "decided_at": now(), "decider": DECIDER}
        statement = self._sign(Undo(key_id=self.decider.key_id, prior_version=2, **fields))
        gate = self.enter("withdrawal", statement, item)
        return self._log("item.retracted", ItemRetracted(item_id=item, withdrawal=statement, gate=gate))

    def mode(self, value: str) -> ModeEntered:
        statement = self._sign(
            SwitchSetting(
                key_id=self.decider.key_id,
                name="site_mode",
                value=value,
                decided_at=now(),
                decider=DECIDER,
                prior_version=0,
            )
        )
        return self._log("mode.entered", ModeEntered(setting=statement, gate=self.enter("site_mode", statement)))

    def change_key(self, action: str, subject: SigningKey, by: SigningKey | None = None) -> KeyRecorded:
        key = by or self.decider
        statement = key.sign(
            KeyChange(
                key_id=key.key_id,
                action=action,
                subject_key_id=subject.key_id,
                subject_public_key=b64encode(subject.public).decode(),
                decided_at=now(),
                decider=DECIDER,
            )
        )
        return self._log("key.recorded", KeyRecorded(change=statement, gate=self.enter("key", statement)))

    def head(self, nonce: str = "", at: datetime | None = None, **changed: Any) -> HeadSealed:
        fields = {"key_id": self.gate.key_id, "seq": self.seq, "head": self.hash, "at": at or now(), "nonce": nonce}
        return HeadSealed(head=self._gate(GateHead(**{**fields, **changed})))

    def _gate(self, statement: Statement) -> Signed:
        return self.gate.sign(statement)

    def _sign(self, statement: Statement) -> Signed:
        return self.decider.sign(statement)

    def _log(self, name: str, data: D) -> D:
        self.log.append((name, data))
        return data


def link(data: Data) -> Link:
    match data:
        case ItemPublished():
            return Link(data.gate, data.decision)
        case ItemRetracted():
            return Link(data.gate, data.withdrawal)
        case ModeEntered():
            return Link(data.gate, data.setting)
        case KeyRecorded():
            return Link(data.gate, data.change)
    raise TypeError(f"{type(data).__name__} is no entry of the log")
