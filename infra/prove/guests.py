"""Two people who may look but not decide, for as long as a check lasts: put into console_db with the console's own role, and taken out again."""
# statements are composed of constants of ours
# ruff: noqa: S608

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid5

from infra.prove.target import Attempt, Target
from schemas.text import sha256
from shared.settings import DATABASES

ROLES = ("viewer", "member")
_PERSON = "INSERT INTO app.people (id, handle, name, role, created_at, created_by) VALUES ($1::uuid, $2, 'prove', $3, now(), 'prove')"
_SESSION = "INSERT INTO app.sessions (token_hash, person_id, created_at, seen_at) VALUES ($1, $2::uuid, now(), now())"
_TOKEN = "INSERT INTO app.api_tokens (id, token_hash, person_id, name, role, created_at) VALUES ($1::uuid, $2, $1::uuid, 'prove', $3, now())"  # noqa: S105
_GONE = (
    "DELETE FROM app.api_tokens WHERE person_id = $1::uuid",
    "DELETE FROM app.sessions WHERE person_id = $1::uuid",
    "DELETE FROM app.access_keys WHERE person_id = $1::uuid",
    "DELETE FROM app.delegations WHERE person_id = $1::uuid",
    "DELETE FROM app.people WHERE id = $1::uuid",
)


_STALE = "SELECT id FROM app.people WHERE created_by = 'prove' AND created_at < now() - interval '10 minutes'"
_LEFT_BEHIND = (
    f"DELETE FROM app.api_tokens WHERE person_id IN ({_STALE})",
    f"DELETE FROM app.sessions WHERE person_id IN ({_STALE})",
    f"DELETE FROM app.access_keys WHERE person_id IN ({_STALE})",
    f"DELETE FROM app.delegations WHERE person_id IN ({_STALE})",
    f"DELETE FROM app.people WHERE id IN ({_STALE})",
)
"""Guests of a run that was killed."""


@dataclass(frozen=True)
class Guest:
    role: str
    person: UUID
    session: str
    token: str


@asynccontextmanager
async def guests(target: Target, mark: str = "") -> AsyncIterator[list[Guest]]:
    """`mark` keeps those of two areas apart, which run side by side."""
    token = f"{target.token}{mark}"
    found = [
        Guest(
            role,
            uuid5(UUID(int=0), f"{token} {role}"),
            secrets.token_urlsafe(32),
            f"schleuse_{secrets.token_urlsafe(32)}",
        )
        for role in ROLES
    ]
    await target.run("console", [_write(query, []) for query in _LEFT_BEHIND])
    try:
        await target.run("console", [attempt for guest in found for attempt in _coming(guest, token)])
        yield found
    finally:
        await target.run("console", [_write(query, [str(guest.person)]) for guest in found for query in _GONE])


def _coming(guest: Guest, token: str) -> list[Attempt]:
    person = str(guest.person)
    return [
        _write(_PERSON, [person, f"prove-{token}-{guest.role}", guest.role]),
        _write(_SESSION, [sha256(guest.session.encode()), person]),
        _write(_TOKEN, [person, sha256(guest.token.encode()), guest.role]),
    ]


def _write(query: str, args: list[str]) -> Attempt:
    return {
        "kind": "rows",
        "role": "console",
        "database": DATABASES["console"],
        "query": query,
        "args": args,
        "write": True,
    }
