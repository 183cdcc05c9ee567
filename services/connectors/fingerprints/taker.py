"""Takes fingerprints at start, when a secret or the key is another one, and hourly."""

import asyncio
from pathlib import Path

import structlog

from schemas.connectors.v1 import Fingerprint
from services.connectors.audit.domain import Note
from services.connectors.book.domain import Secret, Version
from services.connectors.book.keeper import Keeper
from services.connectors.fingerprints.domain import canary, fingerprints
from services.connectors.fingerprints.usecases.take_fingerprints import opened_for_fingerprints, take_fingerprints
from services.connectors.kinds.token_files import TokenFiles
from services.connectors.secrets.types import SecretValue
from services.connectors.secrets.vault import Vault
from shared.clock import now
from shared.db import Database
from shared.errors import Permanent, SchleuseError
from shared.fingerprints import FingerprintKey
from shared.health import Health
from shared.sealing import TYPES
from shared.tasks import cancel, spawn

log = structlog.get_logger()
LOOK = 10.0
"""Seconds until the key and the age of the set are looked at again."""
AGAIN = 2.0


class FingerprintTaker:
    """A part. What was made of a sealed file is remembered as long as the key; a value is never."""

    def __init__(
        self, db: Database, keeper: Keeper, vault: Vault, tokens: TokenFiles, keys: Path, health: Health
    ) -> None:
        self._db, self._keeper, self._vault, self._keys, self._health = db, keeper, vault, keys, health
        self._tokens = tokens
        self._made: dict[tuple[str, str], frozenset[Fingerprint]] = {}
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        keeper.listeners.append(self._woken.set)

    async def start(self) -> None:
        self._task = spawn(self._run(), "fingerprints")

    async def stop(self) -> None:
        await cancel(self._task)

    async def take(self) -> bool:
        """Whether a new set was handed over. Permanent when a secret in use cannot be opened: half a set would let the other half pass."""
        key = await asyncio.to_thread(FingerprintKey.load, self._keys)
        made: dict[tuple[str, str], frozenset[Fingerprint]] = {}
        opened: list[Note] = []
        tokens: set[Fingerprint] = set()
        for secret in tuple(self._keeper.book.secrets.values()):
            for version in secret.versions:
                about = (key.key_id, version.sealed_hash)
                if not version.revoked:
                    made[about] = self._made.get(about) or await self._of(secret, version, key, opened)
                    tokens |= await self._of_tokens(secret, version, key)
        entries = frozenset({canary(key)}.union(tokens, *made.values()))
        async with self._db.transaction() as tx:
            taken = await take_fingerprints(tx, key, entries, opened, now())
        self._made = made
        return taken

    async def _of(
        self, secret: Secret, version: Version, key: FingerprintKey, opened: list[Note]
    ) -> frozenset[Fingerprint]:
        try:
            value = await self._vault.open(secret, version.number)
        except Permanent as error:
            if version in secret.usable(now()):
                raise
            place = str(secret.place)
            log.warning("fingerprints.version_left_out", secret=place, version=version.number, code=error.code)
            return frozenset({canary(key)})
        opened.append(opened_for_fingerprints(value))
        names = TYPES[value.type].secret_names()
        return frozenset({canary(key)}).union(
            *(fingerprints(value.fields[name], key) for name in names if name in value.fields)
        )

    async def _of_tokens(self, secret: Secret, version: Version, key: FingerprintKey) -> set[Fingerprint]:
        """What a provider granted for it since: they change by themselves, so they are looked at each time."""
        if secret.type != "oauth2":
            return set()
        held = await asyncio.to_thread(
            self._tokens.read, SecretValue(secret.place, secret.type, version.number, fields={})
        )
        return {*fingerprints(held.access, key), *fingerprints(held.refresh, key)} if held else set()

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self.take()
                self._health.set("fingerprints", True)
                wait = LOOK
            except SchleuseError as error:
                log.warning("fingerprints.not_taken", error=error.message, code=error.code)
                self._health.set("fingerprints", False, f"the lock is told of no new secret: {error.message}"[:200])
                wait = AGAIN
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
