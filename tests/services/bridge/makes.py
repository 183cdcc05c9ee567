"""Statements and events as the console would make them, for tests of the lock."""

import base64
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.content import ItemContent
from schemas.model import Verdict
from schemas.statements import Decision, KeyChange, Opening, Signed, SwitchSetting, Undo, Withdrawal
from schemas.text import sha256
from services.bridge.domain import Revision
from shared.ids import item_id, new_token
from shared.signing import SigningKey

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
_paths = itertools.count(1)


def content(body: str = "Water rises.", title: str = "Lock") -> ItemContent:
    return ItemContent(title=title, body=body)


def opening(person: str = "tom", via: str = "console", reason: str = "fine", name: str = "Tom Brandt") -> Opening:
    return Opening(person_id=person, person_name=name, via=via, reason=reason, nonce=new_token())


def revision(
    number: int = 1, body: str = "Water rises.", by: str = "ada", path: str = "", blocked: bool = False
) -> Revision:
    path = path or f"doc-{next(_paths)}"
    return Revision(
        item_id=item_id("doc", "en", path),
        revision=number,
        kind="doc",
        lang="en",
        path=path,
        audience="public",
        content=(raw := content(body).to_bytes()),
        content_hash=sha256(raw),
        submitted_by=by,
        blocked=blocked,
    )


@dataclass
class Signer:
    """A console's decision key at work."""

    key: SigningKey
    at: datetime = field(default=AT)

    def decision(self, of: Revision, verdict: Verdict, prior: int, who: Opening, **changed: Any) -> Signed:
        return self.key.sign(self.statement(of, verdict, prior, who, **changed))

    def statement(self, of: Revision, verdict: Verdict, prior: int, who: Opening, **changed: Any) -> Decision:
        fields = {
            "key_id": self.key.key_id,
            "item_id": of.item_id,
            "revision": of.revision,
            "content_hash": of.content_hash,
            "kind": of.kind,
            "lang": of.lang,
            "path": of.path,
            "audience": of.audience,
            "verdict": verdict,
            "decided_at": self.at,
            "decider": who.commitment,
            "prior_version": prior,
        }
        return Decision(**(fields | changed))

    def withdrawal(self, item: UUID, prior: int, who: Opening) -> Signed:
        return self.key.sign(
            Withdrawal(
                key_id=self.key.key_id, item_id=item, decided_at=self.at, decider=who.commitment, prior_version=prior
            )
        )

    def undo(self, of: Revision, undoes: str, prior: int, who: Opening, **changed: Any) -> Signed:
        fields = {
            "key_id": self.key.key_id,
            "item_id": of.item_id,
            "revision": of.revision,
            "undoes": undoes,
            "decided_at": self.at,
            "decider": who.commitment,
            "prior_version": prior,
        }
        return self.key.sign(Undo(**(fields | changed)))

    def setting(self, name: Any, value: str, prior: int, who: Opening) -> Signed:
        return self.key.sign(
            SwitchSetting(
                key_id=self.key.key_id,
                name=name,
                value=value,
                decided_at=self.at,
                decider=who.commitment,
                prior_version=prior,
            )
        )

    def key_change(self, action: Any, subject: SigningKey, who: Opening) -> Signed:
        return self.key.sign(
            KeyChange(
                key_id=self.key.key_id,
                action=action,
                subject_key_id=subject.key_id,
                subject_public_key=base64.b64encode(subject.public).decode(),
                decided_at=self.at,
                decider=who.commitment,
            )
        )


LATER = AT + timedelta(days=1)
