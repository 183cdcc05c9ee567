"""A request's body in pieces of the wire's size: the first goes with the request, the rest after it."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

from shared.asking.wire import CHUNK, FIRST_BODY


async def whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def pieces(body: AsyncIterable[bytes]) -> AsyncGenerator[tuple[bytes, bool], None]:
    """(piece, whether more follows): one of up to FIRST_BODY bytes, then such of up to CHUNK. Always at least one."""
    limit, held = FIRST_BODY, bytearray()
    async for part in body:
        held += part
        while len(held) > limit:
            yield bytes(held[:limit]), True
            del held[:limit]
            limit = CHUNK
    yield bytes(held), False
