"""Everything that the agent keeps of a person, as one ZIP, piece by piece: it never stands in memory as a whole."""

import asyncio
import zipfile
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from datetime import datetime

from schemas.outward import Owner
from services.agent.belongings.domain import STAYS, Holding

READ_ME = "READ-ME.txt"


class _Outlet:
    """What the ZIP writes, until it is fetched."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing waits anywhere else."""

    def close(self) -> None:
        """Nothing is open."""

    def fetch(self) -> bytes:
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found


async def export_all(holdings: Sequence[Holding], owner: Owner, at: datetime) -> AsyncIterator[bytes]:
    """A ZIP of each holding's files. What is written while it runs may be in it or not."""
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(READ_ME, at), _about(at).encode())
        for holding in holdings:
            async for piece in _pack(archive, holding, owner, at, outlet):
                yield piece
    yield outlet.fetch()


async def _pack(archive: zipfile.ZipFile, holding: Holding, owner: Owner, at: datetime, outlet: _Outlet) -> AsyncIterator[bytes]:  # fmt: skip
    """What comes one after another under the same path is one file. In a thread: packing a long one would hold up everybody else's turn."""
    with ExitStack() as open_:
        current, entry = "", None
        async for path, content in holding.export(owner):
            if entry is None or path != current:
                await asyncio.to_thread(open_.close)
                current, entry = path, open_.enter_context(archive.open(_entry(path, at), "w"))
            await asyncio.to_thread(entry.write, content)
            yield outlet.fetch()
        await asyncio.to_thread(open_.close)


def _entry(path: str, at: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, (max(1980, at.year), at.month, at.day, at.hour, at.minute, at.second))
    entry.external_attr = 0o600 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _about(at: datetime) -> str:
    stays = "\n".join(f"- {name}: {why}" for name, why in sorted(STAYS.items()))
    return f"What the agent keeps of you, on {at:%Y-%m-%d %H:%M} UTC. Times are UTC, money is US dollars.\n\nWhen you have it deleted, this stays:\n{stays}\n"
