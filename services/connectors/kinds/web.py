"""What every kind that speaks HTTP has: a base address, one exchange with it, and a look whether it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import httpx2
from pydantic import AfterValidator, Field

from services.connectors.egress.hosts import allow_list, parse_url
from services.connectors.egress.way import Way
from services.connectors.kinds.answers import Answer
from services.connectors.kinds.credentials import AuthSettings
from services.connectors.kinds.failures import explain
from services.connectors.kinds.kind import Exchange
from services.connectors.kinds.retrying import Retrying
from services.connectors.kinds.sending import Asked, Sending, in_time
from shared.errors import Refused, SchleuseError

CHECK_S = 10.0


def _base(text: str) -> str:
    if "?" in text or "#" in text:
        raise ValueError("a base address has no query and no fragment")
    try:
        return parse_url(text).url
    except Refused as error:
        raise ValueError(error.message) from None


BaseAddress = Annotated[str, Field(max_length=500), AfterValidator(_base)]
Path = Annotated[str, Field(max_length=300, pattern=r"^/[^?#\\\s]*$")]


class WebSettings(AuthSettings):
    """`base`: what `https://<connector>.connector/` stands for; credentials go there and nowhere else. `hosts`: others that may be asked, too.

    `health_path`: what a check asks for, below the base address and without a credential; any answer but an error of the server will do.
    """

    base: BaseAddress
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    health_path: Path = "/"


def hosts_of(settings: WebSettings) -> tuple[str, ...]:
    base = parse_url(settings.base)
    return tuple(dict.fromkeys((base.key, *allow_list(settings.hosts, base.port))))


@asynccontextmanager
async def answer_to(exchange: Exchange, settings: WebSettings, asked: Asked) -> AsyncIterator[Answer]:
    """The other side's answer, within the connector's time. Everything is closed when the block ends."""
    host = asked.place.target.host
    async with in_time(exchange, host):
        sending = Sending(exchange, settings, asked, Retrying(settings.retries))
        try:
            response = await sending.answer()
            try:
                yield Answer(exchange, response, host)
            finally:
                await response.aclose()
        finally:
            await sending.close()


async def look(settings: WebSettings, way: Way) -> str:
    """Whether the base address answers: empty, or why not."""
    base = parse_url(settings.base)
    request = httpx2.Request(
        "GET",
        f"{base.url.rstrip('/')}{settings.health_path}",
        headers=[("accept-encoding", "identity")],
        extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), CHECK_S)},
    )
    transport = way.http()
    try:
        response = await transport.handle_async_request(request)
        await response.aclose()
    except httpx2.HTTPError as error:
        return explain(error, base.host).message
    except SchleuseError as error:
        return error.message
    finally:
        await transport.aclose()
    return f"{base.host} answers with status {response.status_code}" if response.status_code >= 500 else ""
