"""Language models, of OpenAI's and Anthropic's interface: asked by their own clients through the tunnel, or by an operation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, model_validator

from services.connectors.egress.way import Way
from services.connectors.kinds import llm_arguments as arguments
from services.connectors.kinds.answers import Answer
from services.connectors.kinds.arguments import read_arguments
from services.connectors.kinds.base_address import OWN, Place, fits, resolve
from services.connectors.kinds.kind import Exchange, KindSettings, Plan, Request
from services.connectors.kinds.replay import Replay, bytes_of
from services.connectors.kinds.sending import Asked, tunnelled
from services.connectors.kinds.usage import Usage
from services.connectors.kinds.web import WebSettings, answer_to, hosts_of, look, plan_of
from shared.errors import Permanent, Refused, SchleuseError, Transient

ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True)
class Route:
    """An operation as the provider has it. `path` lies below the base address; `*` stands for a name."""

    operation: str
    method: str
    path: str
    takes: type[BaseModel]


ROUTES: dict[str, tuple[Route, ...]] = {
    "openai": (
        Route("chat", "POST", "/chat/completions", arguments.Chat),
        Route("responses", "POST", "/responses", arguments.Responses),
        Route("embeddings", "POST", "/embeddings", arguments.Embeddings),
        Route("models", "GET", "/models", arguments.Models),
        Route("models", "GET", "/models/*", arguments.Models),
    ),
    "anthropic": (
        Route("messages", "POST", "/v1/messages", arguments.Messages),
        Route("count_tokens", "POST", "/v1/messages/count_tokens", arguments.CountTokens),
        Route("models", "GET", "/v1/models", arguments.Models),
        Route("models", "GET", "/v1/models/*", arguments.Models),
    ),
}
USUAL: dict[str, dict[str, Any]] = {
    "openai": {"base": "https://api.openai.com/v1", "auth": ("bearer",)},
    "anthropic": {"base": "https://api.anthropic.com", "auth": ("header",), "auth_header": "X-Api-Key"},
}


class LlmSettings(WebSettings):
    """`provider`: whose interface it speaks; its own address and way to show the key are usual and can be declared otherwise.

    `timeout_s` can be longer than elsewhere: an answer is written for as long as it takes.
    """

    provider: Literal["openai", "anthropic"] = "openai"
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return USUAL.get(str(given.get("provider", "openai")), {}) | given

    def route(self, method: str, place: Place) -> Route | None:
        return next((each for each in self.routes if each.method == method and fits(place, (each.path,))), None)

    @property
    def routes(self) -> tuple[Route, ...]:
        return ROUTES[self.provider]

    def may(self, method: str, place: Place) -> bool:
        return self.route(method, place) is not None


class Llm:
    name: ClassVar[str] = "llm"
    about: ClassVar[str] = "Language models: OpenAI's interface, which many speak, or Anthropic's"
    settings: ClassVar[type[KindSettings]] = LlmSettings
    operations: ClassVar[frozenset[str]] = frozenset(each.operation for routes in ROUTES.values() for each in routes)

    def hosts(self, settings: KindSettings) -> tuple[str, ...]:
        return hosts_of(_settings(settings))

    def plan(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        settings = _settings(request.settings)
        route, place = _asked_for(request, settings)
        if request.http is None:
            read_arguments(route.takes, request)
        return plan_of(request, settings, route.operation, f"{route.method} {place.line}", place, publics)

    async def run(self, exchange: Exchange) -> Any:
        settings = _settings(exchange.request.settings)
        async with answer_to(exchange, settings, _asked(exchange, settings)) as answer:
            usage = Usage(events="event-stream" in dict(answer.headers).get("content-type", ""))
            answer.reader = usage.feed
            try:
                if exchange.request.http is not None:
                    return await answer.relay()
                exchange.answered(str(answer.status))
                return _result(exchange, answer, await answer.whole())
            finally:
                usage.end()
                exchange.tokens(usage.tokens_in, usage.tokens_out)

    async def check(self, settings: KindSettings, way: Way) -> str:
        return await look(_settings(settings), way)


def _settings(given: KindSettings) -> LlmSettings:
    assert isinstance(given, LlmSettings)
    return given


def _asked_for(request: Request, settings: LlmSettings) -> tuple[Route, Place]:
    if request.http is None:
        found = next((each for each in settings.routes if each.operation == request.operation), None)
        if found is not None:
            return found, resolve(settings.base, request.connector, f"https://{request.connector}{OWN}{found.path}")
    else:
        place = resolve(settings.base, request.connector, request.http.url)
        route = settings.route(request.http.method.upper(), place) if place.own else None
        if route is not None:
            return route, place
    known = ", ".join(dict.fromkeys(f"{each.operation} ({each.method} {each.path})" for each in settings.routes))
    raise Refused(f"connector {request.connector} of provider {settings.provider} takes {known}", code="operation")


def _asked(exchange: Exchange, settings: LlmSettings) -> Asked:
    request = exchange.request
    route, place = _asked_for(request, settings)
    if request.http is not None:
        return tunnelled(exchange, route.method, place, settings)
    headers = [("accept", "application/json")]
    if settings.provider == "anthropic":
        headers.append(("anthropic-version", ANTHROPIC_VERSION))
    if route.method == "GET":
        return Asked(route.method, place, tuple(headers))
    raw = read_arguments(route.takes, request).model_dump_json(exclude_none=True).encode()
    return Asked(route.method, place, (*headers, ("content-type", "application/json")), Replay(bytes_of(raw)), len(raw))


def _result(exchange: Exchange, answer: Answer, raw: bytes) -> Any:
    """The provider's own JSON; its errors as typed ones."""
    host = exchange.plan.hosts[0]
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if answer.status == 200 and isinstance(found, dict):
        return found
    raise _failed(host, answer.status, _said(found))


def _said(found: Any) -> str:
    """The provider's own words, short and on one line. What it echoed of our key is masked already."""
    error = found.get("error") if isinstance(found, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    clean = "".join(each if each.isprintable() else " " for each in words) if isinstance(words, str) else ""
    return f": {clean[:300]}" if clean else ""


def _failed(host: str, status: int, said: str) -> SchleuseError:
    if status in {401, 403}:
        return Permanent(f"{host} does not accept the key (status {status}); rotate the secret", code="credential")
    if status == 429:
        return Transient(f"{host} takes no more requests now (status 429); try again later{said}", code="provider_busy")
    if status >= 500 or status == 200:
        return Transient(f"{host} cannot answer now (status {status}); try again later{said}", code="provider_down")
    return Refused(f"{host} does not take this request (status {status}){said}", code="provider_refused")


KIND = Llm()
