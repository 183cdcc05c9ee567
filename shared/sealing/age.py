"""Age files of secrets. What a value is for (place and type) is sealed in with it, so a file that was put elsewhere opens nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyrage

from schemas.outward import SecretPlace, SecretType
from schemas.text import BadJson, canonical, parse_json
from shared.errors import Permanent, Refused
from shared.sealing.types import TYPES, SecretFields, check_fields

PURPOSE = "schleuse.sealed.v1"
ROUND = 256
"""Bytes that a plaintext is filled up to with spaces: the file's length says little about the value's."""
LARGEST = 256 * 1024
"""Bytes of a sealed file."""


class Identity:
    """The private side. It has no repr and is not written down."""

    def __init__(self, text: str) -> None:
        self._key = pyrage.x25519.Identity.from_str(text.strip())
        self.recipient = str(self._key.to_public())

    @classmethod
    def load(cls, path: Path) -> "Identity":
        """The file that setup made (0600). Permanent when it holds no identity."""
        try:
            return cls(path.read_text())
        except (pyrage.IdentityError, UnicodeDecodeError):
            raise Permanent(f"{path} holds no age identity; no secret can be opened", code="identity") from None

    def open(self, raw: bytes) -> bytes:
        found: bytes = pyrage.decrypt(raw, [self._key])
        return found

    def __repr__(self) -> str:
        return f"Identity({self.recipient})"

    def __reduce__(self) -> str:
        raise TypeError("an identity is not written down")


@dataclass(frozen=True)
class Unsealed:
    """What a file holds: for which place, and the type's fields."""

    place: SecretPlace
    type: SecretType
    fields: SecretFields = field(repr=False)


def read_recipient(public_keys: Path) -> str:
    """Whom secrets are sealed to: `secrets_recipient` of keys/public.json."""
    found: Any = json.loads(public_keys.read_text()).get("secrets_recipient")
    if not isinstance(found, str):
        raise Refused(f"{public_keys} names nobody to seal secrets to; start Schleuse once, then try again")
    return found


def seal(recipient: str, place: SecretPlace, kind: SecretType, fields: Mapping[str, Any]) -> bytes:
    """An age file for `recipient` (age1…). Refused when the fields do not fit the type."""
    return _encrypt(recipient, place, kind, check_fields(kind, fields).opened())


def _encrypt(recipient: str, place: SecretPlace, kind: SecretType, opened: dict[str, str]) -> bytes:
    plain = canonical({"purpose": PURPOSE, "place": place.model_dump(mode="json"), "type": kind, "fields": opened})
    filled = plain + b" " * (-len(plain) % ROUND)
    try:
        sealed: bytes = pyrage.encrypt(filled, [pyrage.x25519.Recipient.from_str(recipient)])
    except pyrage.RecipientError:
        raise Refused(f"{recipient[:20]}… is no age recipient; nothing was sealed", code="recipient") from None
    return sealed


def unseal(identity: Identity, raw: bytes) -> Unsealed:
    """Permanent (code `secret_unreadable`) when it was sealed to somebody else, is damaged, or is no secret of ours.

    The cause is cut off: an error that begins in the plaintext must not carry it along.
    """
    if len(raw) > LARGEST:
        raise Permanent(f"a sealed secret has at most {LARGEST} bytes", code="secret_unreadable")
    try:
        plain = identity.open(raw)
    except pyrage.DecryptError:
        raise Permanent(
            "the sealed file does not open with this installation's key: it is damaged, or was sealed to another one",
            code="secret_unreadable",
        ) from None
    found = _read(plain)
    if found is None:
        raise Permanent("the file opens, but holds no secret of this product", code="secret_unreadable")
    return found


def _read(plain: bytes) -> Unsealed | None:
    try:
        found = parse_json(plain.rstrip(b" "))
        if set(found) != {"purpose", "place", "type", "fields"} or found["purpose"] != PURPOSE:
            return None
        if found["type"] not in TYPES:
            return None
        return Unsealed(
            SecretPlace.model_validate(found["place"]), found["type"], check_fields(found["type"], found["fields"])
        )
    except (BadJson, ValueError, TypeError, Refused):
        return None
