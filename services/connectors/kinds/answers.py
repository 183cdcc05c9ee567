"""An answer on its way back to the asker: within its limits, and without our credentials in it."""

from collections.abc import AsyncIterator, Callable, Sequence

import httpx2

from services.connectors.kinds.decoding import Decoder
from services.connectors.kinds.failures import explain, too_large
from services.connectors.kinds.headers import Headers, inward
from services.connectors.kinds.kind import Exchange
from services.connectors.kinds.masking import NOTE, Mask
from shared.errors import SchleuseError

Reader = Callable[[bytes], None]


class Answer:
    """Of one call. `location`: where it leads, absolute. `reader` gets every chunk that the asker gets."""

    def __init__(self, exchange: Exchange, response: httpx2.Response, host: str, mask: Mask, location: str) -> None:
        self._exchange, self._response, self._host, self._mask = exchange, response, host, mask
        self._limit = exchange.request.settings.max_response_bytes
        given = inward(_headers(response), host)
        self._decoder = Decoder(dict(given).get("content-encoding", ""), host)
        self.status = response.status_code
        self.headers = self._shown(
            tuple((name, location if location and name == "location" else value) for name, value in given)
        )
        self.reader: Reader = lambda _: None

    async def chunks(self) -> AsyncIterator[bytes]:
        """TooLarge as soon as it is more than the connector may take; Transient when it breaks off."""
        async for chunk in self._opened():
            if masked := self._mask.feed(chunk):
                yield masked
        if last := self._mask.end():
            yield last
        if self._mask.found:
            self._exchange.note(NOTE)

    async def _opened(self) -> AsyncIterator[bytes]:
        size, failure = 0, None
        try:
            async for chunk in self._response.aiter_raw():
                for piece in self._decoder.feed(chunk):
                    size += len(piece)
                    if size > self._limit:
                        raise self.too_large()
                    yield piece
        except httpx2.HTTPError as error:
            failure = explain(error, self._host)
        if failure is not None:
            raise failure
        self._decoder.end()

    def too_large(self) -> SchleuseError:
        return too_large(self._host, self._exchange.request.connector, self._limit)

    async def whole(self) -> bytes:
        raw = b"".join([chunk async for chunk in self.chunks()])
        self.reader(raw)
        return raw

    async def relay(self) -> None:
        """To the asker, chunk by chunk."""
        if self._declared() > self._limit:
            raise self.too_large()
        await self._exchange.head(self.status, self.headers)
        async for chunk in self.chunks():
            self.reader(chunk)
            await self._exchange.send(chunk)

    def _shown(self, given: Headers) -> Headers:
        gone = (
            {"content-encoding", "content-length", "etag", "content-md5", "digest"} if self._decoder.packed else set()
        )
        return tuple((name, self._mask.header(value)) for name, value in given if name not in gone)

    def _declared(self) -> int:
        said = dict(self.headers).get("content-length", "")
        return int(said[:12]) if said.isascii() and said.isdigit() else 0


def _headers(response: httpx2.Response) -> Sequence[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
