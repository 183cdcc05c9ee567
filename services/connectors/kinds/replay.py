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

    @property
    def again(self) -> bool:
        return self._size <= LARGEST

    async def chunks(self) -> AsyncIterator[bytes]:
        """From its beginning; what was not read yet comes after what was kept."""
        for chunk in tuple(self._kept):
            yield chunk
        async for chunk in self._body:
            self._keep(chunk)
            yield chunk

    def _keep(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self.again:
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
