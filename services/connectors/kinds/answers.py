"""An answer on its way back to the asker: within its limits, and without our credentials in it."""

from collections.abc import AsyncIterator, Sequence

import httpx2

from services.connectors.kinds.failures import explain, too_large
from services.connectors.kinds.headers import Headers, inward
from services.connectors.kinds.kind import Exchange
from shared.errors import SchleuseError


class Answer:
    """Of one call."""

    def __init__(self, exchange: Exchange, response: httpx2.Response, host: str) -> None:
        self._exchange, self._response, self._host = exchange, response, host
        self._limit = exchange.request.settings.max_response_bytes
        self.status = response.status_code
        self.headers: Headers = inward(_headers(response), host)

    async def chunks(self) -> AsyncIterator[bytes]:
        """TooLarge as soon as it is more than the connector may take; Transient when it breaks off."""
        size, failure = 0, None
        try:
            async for chunk in self._response.aiter_raw():
                size += len(chunk)
                if size > self._limit:
                    failure = self.too_large()
                    break
                yield chunk
        except httpx2.HTTPError as error:
            failure = explain(error, self._host)
        if failure is not None:
            raise failure

    def too_large(self) -> SchleuseError:
        return too_large(self._host, self._exchange.request.connector, self._limit)

    async def whole(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def relay(self) -> None:
        """To the asker, chunk by chunk."""
        if self._declared() > self._limit:
            raise self.too_large()
        await self._exchange.head(self.status, self.headers)
        async for chunk in self.chunks():
            await self._exchange.send(chunk)

    def _declared(self) -> int:
        said = dict(self.headers).get("content-length", "")
        return int(said[:12]) if said.isascii() and said.isdigit() else 0


def _headers(response: httpx2.Response) -> Sequence[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
