"""What every kind that speaks HTTP has: a base address, one exchange with it, and a look whether it answers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Annotated, Self

import httpx2
from pydantic import AfterValidator, Field, model_validator

from services.connectors.egress.dialling import shut
from services.connectors.egress.hosts import allow_list, parse_url, permits
from services.connectors.egress.redirects import Hop, is_redirect, next_hop
from services.connectors.egress.way import Way
from services.connectors.kinds.answers import Answer
from services.connectors.kinds.base_address import Place, declared_at, resolve
from services.connectors.kinds.credentials import AuthSettings
from services.connectors.kinds.failures import explain
from services.connectors.kinds.kind import Exchange, Plan, Request
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

    @model_validator(mode="after")
    def _credentials_are_not_overheard(self) -> Self:
        if self.auth and self.base.startswith("http://") and not self.addresses:
            raise ValueError(
                "a credential travels over https:// only; for a base of http:// the private address that it leads to must stand in addresses, such as 127.0.0.1"
            )
        return self

    def may(self, method: str, place: Place) -> bool:
        """Whether this may be asked for below the base address: a redirect is asked the same as the asker."""
        return True


def hosts_of(settings: WebSettings) -> tuple[str, ...]:
    return _hosts(settings.base, settings.hosts)


@lru_cache(maxsize=256)
def _hosts(base: str, hosts: tuple[str, ...]) -> tuple[str, ...]:
    own = declared_at(base)
    return tuple(dict.fromkeys((own.key, *allow_list(hosts, own.port))))


def plan_of(
    request: Request,
    settings: WebSettings,
    operation: str,
    target: str,
    place: Place,
    publics: Sequence[Mapping[str, str]],
) -> Plan:
    """With the token address of an oauth2 secret among the hosts: the call may reach it, too. Refused (code `egress`) when it is not listed."""
    if not place.own:
        return Plan(operation, target, (place.target.key,))
    hosts = [place.target.key]
    if "oauth2" in settings.auth:
        hosts += [parse_url(each["token_url"]).key for each in publics if "token_url" in each]
    if unlisted := [host for host in hosts if not permits(hosts_of(settings), host)]:
        raise shut(
            f"{unlisted[0]}, where access tokens come from, is not among the hosts of connector {request.connector}"
        )
    return Plan(operation, target, tuple(dict.fromkeys(hosts)), settings.secret_types)


@asynccontextmanager
async def answer_to(exchange: Exchange, settings: WebSettings, asked: Asked) -> AsyncIterator[Answer]:
    """The other side's answer, within the connector's time. Everything is closed when the block ends."""
    host = asked.place.target.host
    async with in_time(exchange, host):
        sending = Sending(exchange, settings, asked, Retrying(settings.retries))
        try:
            response, location = await _followed(exchange, settings, sending, asked)
            try:
                yield Answer(exchange, response, host, sending.mask(), location)
            finally:
                await response.aclose()
        finally:
            await sending.close()


async def _followed(
    exchange: Exchange, settings: WebSettings, sending: Sending, asked: Asked
) -> tuple[httpx2.Response, str]:
    """The first answer that leads nowhere else below the base address, and where it leads then, absolute.

    To another host of the allow-list the asker goes by itself, with an ask of its own: it is checked and granted like any other.
    """
    hop = Hop(asked.method, asked.place.target)
    while True:
        response = await sending.answer(asked)
        location = response.headers.get("location")
        if location is None or not is_redirect(response.status_code, location):
            return response, ""
        try:
            hop = next_hop(hop, response.status_code, location, hosts_of(settings))
            place = resolve(settings.base, exchange.request.connector, hop.target.url)
        except Refused:
            await response.aclose()
            raise
        again = not hop.with_body or asked.body is None or asked.body.again
        if not (place.own and again and settings.may(hop.method, place)):
            return response, hop.target.url
        await response.aclose()
        exchange.note("followed a redirect")
        asked = _next(asked, hop, place)


def _next(asked: Asked, hop: Hop, place: Place) -> Asked:
    body, size = (asked.body, asked.body_bytes) if hop.with_body else (None, None)
    return Asked(hop.method, place, hop.headers(asked.headers), body, size)


async def look(settings: WebSettings, way: Way) -> str:
    """Whether the base address answers: empty, or why not."""
    base = declared_at(settings.base)
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
