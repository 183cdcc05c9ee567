"""Who is asking: a browser that signed in through the console, a program with a key, or nobody, who is a guest. Never by an argument (rule 24)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import get_args

from starlette.requests import Request

from schemas.model import Role
from schemas.outward import Owner
from services.agent.owners import store
from services.agent.owners.access import AccessKeys, Key
from services.agent.owners.domain import Me
from services.agent.owners.key_watch import KeyWatch
from services.agent.owners.usecases.keep_zone import Zone, keep_zone, unknown_zone
from services.agent.owners.zones import UTC, is_zone
from shared.db import Database
from shared.errors import Unauthorized
from shared.identity import Found, Sessions, is_fresh
from shared.identity.streams import Streams

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Visit:
    """`over` is set when what they came by is over: signed out, another role, key revoked, or the service stops (S8)."""

    me: Me
    over: asyncio.Event


class OwnerDoor:
    """`cookie` names the session's cookie at this surface."""

    def __init__(
        self, db: Database, sessions: Sessions, access: AccessKeys, streams: Streams, watch: KeyWatch, cookie: str
    ) -> None:
        self._db, self._sessions, self._access = db, sessions, access
        self._streams, self._watch, self._cookie = streams, watch, cookie

    async def me(self, request: Request) -> Me | None:
        """None: a guest. Unauthorized for a key that is not good (code `key`), and for a session that the console must vouch for anew (`renew`)."""
        found = await self._came_by(request)
        return None if found is None else await self._me(found)

    @asynccontextmanager
    async def staying(self, request: Request) -> AsyncIterator[Visit | None]:
        """For a stream, for as long as the block runs. None: a guest."""
        found = await self._came_by(request)
        if found is None:
            yield None
        elif isinstance(found, Key):
            async with self._watch.open(found) as over:
                yield Visit(await self._me(found), over)
        else:
            async with self._streams.open(found) as stream:
                yield Visit(await self._me(found), stream.over)

    async def keep_zone(self, me: Me, zone: str) -> tuple[Me, str]:
        """With the zone that counts from now on, and a notice when it is not the one that was named (rule 6). A guest's is kept nowhere."""
        if me.is_guest:
            kept = Zone(zone) if is_zone(zone) else unknown_zone(zone, me.zone)
        else:
            async with self._db.owned(me.owner) as tx:
                kept = await keep_zone(tx, me.owner, zone)
        return replace(me, zone=kept.name), kept.notice

    async def _came_by(self, request: Request) -> Found | Key | None:
        """A key counts more than a cookie: who names one wants to be who it is for."""
        named = request.headers.getlist("authorization")
        if named:
            return await self._by_key(named[0] if len(named) == 1 else "")
        found = await self._sessions.find(request.cookies.get(self._cookie, ""))
        if found is None or found.role not in ROLES:
            return None
        if not is_fresh(found):
            raise Unauthorized("The console must vouch for you anew: open this page again.", code="renew")
        return found

    async def _by_key(self, header: str) -> Key:
        scheme, _, token = header.partition(" ")
        key = await self._access.find(token.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Unauthorized(
                "The key is unknown, over or revoked. `schleuse apikey create` makes another; send it as `Authorization: Bearer …`.",
                code="key",
            )
        return key

    async def _me(self, found: Found | Key) -> Me:
        owner = Owner(kind="user", id=str(found.subject))
        async with self._db.owned(owner) as tx:
            zone = await store.zone_of(tx, owner) or UTC
        if isinstance(found, Key):
            return Me(owner, found.person_name, found.role, zone, app="api")
        return Me(owner, found.name, _role(found.role), zone)


def _role(word: str) -> Role:
    return next(role for role in ROLES if role == word)
