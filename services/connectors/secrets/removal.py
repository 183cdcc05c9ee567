"""Files of revoked versions are deleted: what was taken out of use for good is not kept, sealed or not."""

import asyncio
from datetime import timedelta

import structlog

from services.connectors.book.domain import Book
from services.connectors.book.keeper import Keeper
from services.connectors.secrets.vault import Vault
from shared.clock import now
from shared.tasks import cancel, spawn

log = structlog.get_logger()
STRAY = timedelta(days=1)
"""A file that no statement names was left by a crash just before it counted; for so long it may still come to count."""


class Removal:
    """A part. Looks at start and whenever the book changes."""

    def __init__(self, keeper: Keeper, vault: Vault) -> None:
        self._keeper, self._vault = keeper, vault
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        keeper.listeners.append(self._woken.set)

    async def start(self) -> None:
        self._woken.set()
        self._task = spawn(self._run(), "secrets removal")

    async def stop(self) -> None:
        await cancel(self._task)

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await asyncio.to_thread(self._clear, *settled(self._keeper.book))
            except OSError as error:
                log.warning("secrets.removal_failed", error=str(error.strerror))

    def _clear(self, used: frozenset[str], revoked: frozenset[str]) -> None:
        stray_before = (now() - STRAY).timestamp()
        for name in self._vault.hashes() - used:
            if name in revoked or self._vault.age(name) < stray_before:
                self._vault.remove(name)


def settled(book: Book) -> tuple[frozenset[str], frozenset[str]]:
    """(files of versions that may be opened again, files of revoked ones)."""
    versions = [version for secret in book.secrets.values() for version in secret.versions]
    used = frozenset(each.sealed_hash for each in versions if not each.revoked)
    return used, frozenset(each.sealed_hash for each in versions) - used
