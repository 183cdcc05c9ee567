"""A file that is open: what is read is what was there when it was opened, also when it is deleted or replaced meanwhile."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType

PIECE = 512 * 1024


@dataclass(frozen=True)
class Opened:
    """`fd` is whoever opened it has to close. `mtime` in seconds since 1970. `sources`: where untrusted text in it came from."""

    path: str
    fd: int
    size: int
    mtime: float
    sources: tuple[str, ...] = ()

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:  # fmt: skip
        self.close()

    def from_outside(self, sources: Sequence[str]) -> "Opened":
        return replace(self, sources=tuple(sources))

    async def pieces(self, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Bytes `start` to `end` (not included), and none that came to it later."""
        at, last = start, self.size if end is None else min(end, self.size)
        while at < last:
            piece = await asyncio.to_thread(os.pread, self.fd, min(PIECE, last - at), at)
            if not piece:
                return
            at += len(piece)
            yield piece
