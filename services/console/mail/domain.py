"""A person's mail account: what it is called and where it is. No value of a secret is part of it. No framework."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from schemas.outward import Owner, SecretPlace
from schemas.text import text_fault
from shared.errors import Refused
from shared.markup import invisible

Side = Literal["imap", "smtp"]
SIDES: tuple[Side, ...] = ("imap", "smtp")
MOST_ACCOUNTS = 20
"""Of one person, without those that were deleted."""
LONGEST_LABEL = 60
MOST_ADDRESS = 254
_ADDRESS = re.compile(r'[^\s@<>()\[\],;:\\"]{1,64}@[^\s@<>()\[\],;:\\"]+\.[^\s@<>()\[\],;:\\"]+')
_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True)
class SealedPart:
    """One of the two secrets of an account, sealed already. `public`: what a list may show of it."""

    side: Side
    place: SecretPlace
    public: Mapping[str, str]
    sealed: bytes = field(repr=False)


@dataclass(frozen=True)
class Account:
    """As its owner added it. `secret`: the name both secrets go by, `<secret>-imap` and `<secret>-smtp`."""

    account_id: UUID
    person_id: UUID
    label: str
    connector: str
    secret: str
    address: str
    reads: bool
    sends: bool
    version: int = 1
    deleted_at: datetime | None = None

    @property
    def owner(self) -> Owner:
        return owner_of(self.person_id)

    @property
    def sides(self) -> tuple[Side, ...]:
        held: dict[Side, bool] = {"imap": self.reads, "smtp": self.sends}
        return tuple(side for side in SIDES if held[side])

    def place(self, side: Side) -> SecretPlace:
        return place_of(self.owner, self.connector, self.secret, side)


def owner_of(person_id: UUID) -> Owner:
    """The person as the agent and the connectors know them."""
    return Owner(kind="user", id=str(person_id))


def place_of(owner: Owner, connector: str, secret: str, side: Side) -> SecretPlace:
    return SecretPlace(surface="agent", connector=connector, owner=owner, name=f"{secret}-{side}")


def check_label(label: str) -> str:
    """On one line, as it is shown. Refused says how long it may be."""
    clean = unicodedata.normalize("NFC", " ".join(label.split()))
    if not clean or len(clean) > LONGEST_LABEL or text_fault(clean) or invisible(clean) or not clean.isprintable():
        raise Refused(f"A label has 1 to {LONGEST_LABEL} characters, all of them visible.", code="label")
    return clean


def check_address(address: str) -> str:
    """Where mail comes from. The connectors look once more before anything is sent."""
    clean = unicodedata.normalize("NFC", address.strip())
    fits = _ADDRESS.fullmatch(clean) and len(clean.encode()) <= MOST_ADDRESS and clean.isprintable()
    if not fits or text_fault(clean) or invisible(clean):
        raise Refused("The address is written mailbox@domain, one address, without a name.", code="address")
    return clean


def secret_name(label: str, account_id: UUID) -> str:
    """Readable in lists, and nobody else's: an account that is added again never opens what an earlier one left."""
    plain = unicodedata.normalize("NFKD", label.casefold().translate(_SPELT)).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{stem or 'mail'}-{account_id.hex[-8:]}"
