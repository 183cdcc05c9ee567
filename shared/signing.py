"""Ed25519 over statements and envelopes. The purpose is mixed into every signature, so one is never valid for another."""

import base64
import json
from pathlib import Path
from typing import Any, Self, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import ValidationError

from schemas.statements import Signed, Statement
from schemas.text import BadJson, sha256
from shared.errors import BadSignature

S = TypeVar("S", bound=Statement)


def key_id_of(public: bytes) -> str:
    """The first 16 hex digits of the SHA-256 of the raw public key."""
    return sha256(public)[:16]


def _message(purpose: str, payload: bytes) -> bytes:
    return purpose.encode() + b"\x00" + payload


class SigningKey:
    """A private key of one duty (S3). Its file holds the base64 of 32 raw bytes and belongs to one OS user, mode 0600."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()
        self.key_id = key_id_of(self.public)

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"

    @classmethod
    def load(cls, path: Path) -> Self:
        return cls(base64.b64decode(path.read_text().strip(), validate=True))

    def sign_bytes(self, purpose: str, payload: bytes) -> bytes:
        """64 bytes."""
        return self._key.sign(_message(purpose, payload))

    def sign(self, statement: Statement) -> Signed:
        """Sign a statement that names this key."""
        if statement.key_id != self.key_id:
            raise ValueError("the statement names another key")
        payload = statement.to_bytes()
        return Signed(payload=payload, signature=self.sign_bytes(statement.purpose, payload), key_id=self.key_id)


class PublicKeys:
    """The public keys by duty (`decision`, `identity`, `gate`, `envelope`), as the installation published them."""

    def __init__(self, keys: dict[str, dict[str, bytes]]) -> None:
        self._keys = {
            duty: {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in by_id.items()}
            for duty, by_id in keys.items()
        }

    @classmethod
    def load(cls, path: Path) -> Self:
        found: dict[str, Any] = json.loads(path.read_text())
        return cls(
            {
                duty: {each["key_id"]: base64.b64decode(each["public_key"]) for each in listed}
                for duty, listed in found.items()
                if isinstance(listed, list)
            }
        )

    def copy(self) -> "PublicKeys":
        """What is added to it is not added here."""
        made = PublicKeys({})
        made._keys = {duty: dict(by_id) for duty, by_id in self._keys.items()}
        return made

    def ids(self, duty: str) -> frozenset[str]:
        return frozenset(self._keys.get(duty, {}))

    def raw(self, duty: str, key_id: str) -> bytes | None:
        """The 32 bytes of a public key, for a receipt that others can check."""
        key = self._keys.get(duty, {}).get(key_id)
        return key.public_bytes_raw() if key else None

    def add(self, duty: str, key_id: str, public: bytes) -> None:
        """Accept one more key of a duty (a key entry of the gate's log)."""
        if key_id != key_id_of(public):
            raise BadSignature(f"key {key_id} does not match its public key")
        self._keys.setdefault(duty, {})[key_id] = Ed25519PublicKey.from_public_bytes(public)

    def verify_bytes(self, duty: str, key_id: str, purpose: str, payload: bytes, signature: bytes) -> None:
        """BadSignature unless a key of that duty signed these bytes for that purpose."""
        key = self._keys.get(duty, {}).get(key_id)
        if key is None:
            raise BadSignature(f"no {duty} key is named {key_id}")
        try:
            key.verify(signature, _message(purpose, payload))
        except InvalidSignature:
            raise BadSignature(f"the signature by {duty} key {key_id} does not match") from None

    def verify(self, duty: str, signed: Signed, kind: type[S]) -> S:
        """The statement, read from the very bytes that were signed."""
        self.verify_bytes(duty, signed.key_id, kind.PURPOSE, signed.payload, signed.signature)
        try:
            found = kind.from_bytes(signed.payload)
        except (BadJson, ValidationError) as error:
            raise BadSignature(f"the signed bytes are no {kind.PURPOSE}: {error}") from None
        if found.key_id != signed.key_id:
            raise BadSignature("the statement names another key than the one that signed it")
        return found
