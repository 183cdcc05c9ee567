"""What a key of the agent's API is, and who may have which. No framework."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from services.console.people.domain import ROLES, Role
from shared.errors import Forbidden, Refused

Kind = Literal["apikey", "token"]
PREFIX: dict[Kind, str] = {"apikey": "schleuse_ak_", "token": "schleuse_at_"}
WORDS: dict[Kind, str] = {"apikey": "API key", "token": "access token"}
LONGEST_TOKEN = timedelta(hours=1)
LONGEST_KEY = timedelta(days=3650)
MOST_KEYS = 50
"""In force of one person."""


@dataclass(frozen=True)
class Wanted:
    """`role` empty: as the person. `life` None: until it is revoked (a key), or an hour (a token)."""

    kind: Kind
    name: str
    role: str = ""
    life: timedelta | None = None


def check_kind(kind: str) -> Kind:
    for known in PREFIX:
        if kind == known:
            return known
    raise Refused(f"There is no key of kind {kind!r}; there are apikey and token.", code="kind")


def check_life(wanted: Wanted) -> timedelta | None:
    """How long it lives."""
    longest = LONGEST_TOKEN if wanted.kind == "token" else LONGEST_KEY
    life = LONGEST_TOKEN if wanted.life is None and wanted.kind == "token" else wanted.life
    if life is not None and not timedelta(seconds=1) <= life <= longest:
        limit = "an hour" if wanted.kind == "token" else f"{LONGEST_KEY.days} days"
        raise Refused(f"An {WORDS[wanted.kind]} lives for a second at least and for {limit} at most.", code="life")
    return life


def check_scope(person: Role, scope: Role) -> Role:
    """A key is at most as able as its person."""
    if ROLES.index(scope) < ROLES.index(person):
        raise Forbidden(
            f"A key of a {person} cannot act as {scope}; it can act as {', '.join(ROLES[ROLES.index(person) :])}."
        )
    return scope
