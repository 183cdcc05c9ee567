"""Secrets as people put them: signed changes, and the identity that opens what was sealed."""

from typing import Any
from uuid import uuid4

import pyrage

from schemas.outward import SecretChange, SecretPlace
from schemas.statements import Opening
from schemas.text import sha256
from services.connectors.book.domain import Book
from shared.clock import now
from shared.sealing import Identity, check_fields, read_place, seal

OPENING = Opening(person_id=str(uuid4()), person_name="Mara Okonjo", via="console", reason="needed", nonce="5d" * 16)


def new_identity() -> Identity:
    return Identity(str(pyrage.x25519.Identity.generate()))


def place(text: str = "agent/llm/openai") -> SecretPlace:
    return read_place(text)


def change(
    where: str = "agent/llm/openai", action: Any = "put", version: int = 1, prior: int = 0, **more: Any
) -> SecretChange:
    """A statement. `sealed`: the file that it is about."""
    sealed = more.pop("sealed", None)
    hashed = sha256(sealed) if sealed else more.pop("sealed_hash", None)
    said: dict[str, Any] = {"key_id": "k", "type": "api_key", "decided_at": now(), "decider": OPENING.commitment} | more
    return SecretChange(
        action=action, place=place(where), version=version, sealed_hash=hashed, prior_version=prior, **said
    )


def enter(book: Book, *changes: SecretChange) -> Book:
    for each in changes:
        book.check_secret(each)
        book.enter_secret(each, "0" * 64)
    return book


def put_in(book: Book, where: str, **more: Any) -> Book:
    """A secret of which only the place and the type matter."""
    return enter(book, change(where, sealed_hash="a" * 64, **more))


def sealed_for(identity: Identity, where: str, kind: Any = "api_key", **fields: str) -> bytes:
    found = check_fields(kind, fields or {"key": "sk-a-planted-value"}).opened()
    return seal(identity.recipient, place(where), kind, found)
