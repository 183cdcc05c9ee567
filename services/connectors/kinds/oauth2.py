"""Access tokens of oauth2 secrets: used while they are good, and refreshed once, whatever the number of calls and processes (RFC 6749)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

from schemas.text import sha256
from services.connectors.kinds import store
from services.connectors.kinds.token_files import TokenFiles, Tokens
from services.connectors.secrets.types import SecretValue
from shared.clock import now
from shared.db import Database
from shared.sealing import Identity

Fetch = Callable[[str], Awaitable[Tokens]]
"""Asks the provider: with the newest refresh token, empty when there is none."""
MARGIN = timedelta(seconds=30)
"""A token that ends so soon is refreshed now: the call that carries it takes its time."""
YOUNG = timedelta(minutes=10)
AT_ONCE = 2
"""Refreshes of a process: each holds a connection of its own to the database meanwhile."""


class AccessTokens:
    """One for a process."""

    def __init__(self, db: Database, folder: Path, identity: Identity) -> None:
        self._db, self._files = db, TokenFiles(folder, identity)
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def token(self, secret: SecretValue, fetch: Fetch, rejected: str = "") -> str:
        """One that is good as far as anybody knows. `rejected`: the one that the other side did not take."""
        held = await self._held(secret)
        if _good(held, rejected, now()):
            return held.access
        async with self._turns:
            connection = await self._db.connect()
            try:
                await store.hold(connection, _key(secret))
                return await self._refreshed(secret, fetch, rejected)
            finally:
                connection.terminate()  # and with it goes the lock, whatever happened

    async def forget_but(self, labels: frozenset[str], young: timedelta = YOUNG) -> None:
        """`labels`: of all versions that may still be used."""
        await asyncio.to_thread(self._files.forget_but, labels, (now() - young).timestamp())

    async def _refreshed(self, secret: SecretValue, fetch: Fetch, rejected: str) -> str:
        """Only one is here at a time: somebody else may have done it meanwhile."""
        held = await self._held(secret)
        if _good(held, rejected, now()):
            return held.access
        granted = await fetch(held.refresh)
        kept = Tokens(granted.access, granted.refresh or held.refresh, granted.expires_at)
        await asyncio.to_thread(self._files.write, secret, kept)
        return kept.access

    async def _held(self, secret: SecretValue) -> Tokens:
        """Of the last refresh, else what the secret itself began with."""
        found = await asyncio.to_thread(self._files.read, secret)
        return found or Tokens(secret.fields.get("access_token", ""), secret.fields.get("refresh_token", ""))


def _good(held: Tokens, rejected: str, at: datetime) -> bool:
    return bool(held.access) and held.access != rejected and (held.expires_at is None or at + MARGIN < held.expires_at)


def _key(secret: SecretValue) -> int:
    return int.from_bytes(bytes.fromhex(sha256(f"oauth2 {secret.label}".encode())[:16]), signed=True)
