"""A request's body that can be sent again, as long as it is small."""

from collections.abc import AsyncIterator

from shared.errors import Refused

LARGEST = 1024 * 1024
"""Bytes that are kept for another try."""


class Replay:
    """Reads the asker's body once. `again`: whether all that was read of it is still here."""

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body
        self._kept: list[bytes] = []
        self._size = 0
        self._whole = True

    @property
    def again(self) -> bool:
        return self._whole and self._size <= LARGEST

    async def chunks(self) -> AsyncIterator[bytes]:
        """From its beginning; what was not read yet comes after what was kept."""
        for kept in tuple(self._kept):
            yield kept
        while (chunk := await self._next()) is not None:
            self._keep(chunk)
            yield chunk

    async def _next(self) -> bytes | None:
        """A body that broke off has no rest: what was read of it must not pass for the whole the next time."""
        before, self._whole = self._whole, False
        chunk = await anext(self._body, None)
        self._whole = before
        return chunk

    def _keep(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size <= LARGEST:
            self._kept.append(chunk)
        else:
            self._kept.clear()


async def measured(chunks: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Exactly `size` bytes, as the head says. Refused (code `body_length`) otherwise: the other side would wait, or take the rest for something else."""
    left = size
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            break
        yield chunk
    if left:
        raise Refused(
            f"the request's body is {'longer' if left < 0 else 'shorter'} than the {size} bytes that were said",
            code="body_length",
        )


async def bytes_of(raw: bytes) -> AsyncIterator[bytes]:
    """A body that is there already."""
    if raw:
        yield raw
