"""Forged statements and events. Everything names a probe item that does not exist, and carries the run's token in its key."""

import base64
import secrets
from dataclasses import dataclass
from uuid import UUID

from infra.observe.keyfiles import decision_files, key_id_of
from infra.prove.target import Attempt, Target
from schemas.catalogue import BY_NAME
from schemas.envelope import Envelope
from schemas.model import Data
from schemas.statements import Decision, KeyChange, Opening, Signed, Statement, SwitchSetting, Withdrawal
from schemas.text import sha256
from shared.clock import now
from shared.ids import fresh_id, item_id
from shared.signing import SigningKey


def probe_path(token: str) -> str:
    return f"prove/{token}"


@dataclass(frozen=True)
class Forger:
    """Statements about the probe item of one run, and a stranger's key to sign them with."""

    token: str
    key_id: str
    stranger: SigningKey
    opening: Opening

    @classmethod
    def of(cls, target: Target) -> "Forger":
        key_id = key_id_of(target.layout, decision_files(target.layout)[0])
        opening = Opening(person_id="prove", person_name="prove", via="console", reason="probe", nonce=target.token)
        return cls(target.token, key_id, SigningKey(secrets.token_bytes(32)), opening)

    @property
    def item(self) -> UUID:
        return item_id("doc", "en", probe_path(self.token))

    @property
    def far(self) -> int:
        """A place in the log that no entry will reach, and no other run takes."""
        return 1_000_000_000 + int(self.token[:8], 16)

    @property
    def nothing(self) -> str:
        """The hash of bytes that nobody has: what is well signed over it can never be published."""
        return sha256(self.stranger.sign_bytes("schleuse.prove.v1", self.token.encode()))

    @property
    def content(self) -> bytes:
        return f'{{"body":"Forged by prove {self.token}.","format":"markdown","summary":"","title":"Forged"}}'.encode()

    def decision(
        self, *, key_id: str = "", verdict: str = "approve", item: UUID | None = None, content_hash: str = ""
    ) -> Decision:
        return Decision(
            key_id=key_id or self.key_id, item_id=item or self.item, revision=1, content_hash=content_hash or sha256(self.content), kind="doc", lang="en",
            path=probe_path(self.token), audience="public", verdict=verdict, decided_at=now(), decider=self.opening.commitment, prior_version=1,
        )  # fmt: skip

    def withdrawal(self) -> Withdrawal:
        return Withdrawal(
            key_id=self.key_id, item_id=self.item, decided_at=now(), decider=self.opening.commitment, prior_version=1
        )

    def setting(self) -> SwitchSetting:
        return SwitchSetting(
            key_id=self.key_id,
            name="site_mode",
            value="open",
            decided_at=now(),
            decider=self.opening.commitment,
            prior_version=0,
        )

    def key_change(self, *, subject: SigningKey | None = None, vouches_for_itself: bool = False) -> KeyChange:
        public = (subject or self.stranger).public
        subject_id = self.key_id if vouches_for_itself else sha256(public)[:16]
        return KeyChange(
            key_id=self.key_id, action="added", subject_key_id=subject_id, subject_public_key=base64.b64encode(public).decode(),
            decided_at=now(), decider=self.opening.commitment,
        )  # fmt: skip

    def by_stranger(self, statement: Statement, key_id: str = "") -> Signed:
        """Signed by a key that nobody knows; under its own name, or under that of a key of ours."""
        signature = self.stranger.sign_bytes(statement.purpose, statement.to_bytes())
        return Signed(payload=statement.to_bytes(), signature=signature, key_id=key_id or self.stranger.key_id)

    def event(self, name: str, data: Data, mark: str, *, source: str = "") -> str:
        """The envelope's text. `mark` tells the forgeries of a run apart."""
        declared, key = BY_NAME[name], f"prove:{self.token}:{mark}:"
        envelope = Envelope(
            id=fresh_id(), source=f"/{source or declared.owner}", type=declared.ce_type, dataschema=declared.schema_name(), subject=key,
            time=now(), key=key, keyversion=1, data=data.model_dump(mode="json"),
        )  # fmt: skip
        return envelope.to_bytes().decode()


async def sign(target: Target, service: str, wanted: list[tuple[str, str, bytes]]) -> list[Signed]:
    """(duty, purpose, payload) signed by that service's own process with its real key."""
    files = {"decision": decision_files(target.layout)[0]}
    attempts: list[Attempt] = [
        {"kind": "keys", "as": service, "op": "sign", "file": files.get(duty, f"{duty}.key"), "purpose": purpose, "payload": base64.b64encode(payload).decode()}
        for duty, purpose, payload in wanted
    ]  # fmt: skip
    found = [outcome["value"] for outcome in await target.run(service, attempts)]
    return [
        Signed(payload=payload, signature=base64.b64decode(each["signature"]), key_id=each["key_id"]) for each, (_, _, payload) in zip(found, wanted, strict=True)
    ]  # fmt: skip
