"""Opening files of a workspace to be downloaded: by descriptors, no link followed (rule 14). Whatever cannot be fetched is missing, in the same words."""

import asyncio
import os

from schemas.outward import Owner
from services.agent.downloads.domain import Opened, missing
from services.agent.files.places import open_plain
from services.agent.memory.domain import check_path
from services.agent.memory.homes import Homes
from shared.errors import NotFound, Refused


class OwnFiles(Homes):
    """Also by whoever has a mailed link: then the owner comes from the registered row."""

    async def open(self, owner: Owner, path: str) -> Opened:
        """NotFound for whatever is no plain file below the owner's workspace."""
        try:
            parts = check_path(path)
            return await self._opened(owner, parts)
        except (Refused, NotFound):
            raise missing() from None

    async def _opened(self, owner: Owner, parts: tuple[str, ...]) -> Opened:
        """Whoever is cancelled meanwhile leaves no descriptor open."""
        work = asyncio.ensure_future(self._read(owner, lambda home: _open(home, parts)))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            work.add_done_callback(_close)
            raise


def _open(home: int | None, parts: tuple[str, ...]) -> Opened:
    found = open_plain(home, parts)
    facts = os.fstat(found.fd)
    return Opened(found.fd, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def _close(work: "asyncio.Future[Opened]") -> None:
    if not work.cancelled() and work.exception() is None:
        os.close(work.result().descriptor)
