"""Any HTTP service: declared with its base address, methods, paths and how it is shown who asks."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar
from urllib.parse import quote, urlencode

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from services.connectors.egress.way import Way
from services.connectors.kinds.answers import Answer
from services.connectors.kinds.arguments import read_arguments
from services.connectors.kinds.base_address import OWN, Place, check_path, fits, resolve
from services.connectors.kinds.headers import outward
from services.connectors.kinds.kind import Exchange, KindSettings, Plan, Request
from services.connectors.kinds.replay import Replay, bytes_of
from services.connectors.kinds.sending import Asked, tunnelled
from services.connectors.kinds.web import Path, WebSettings, answer_to, hosts_of, look, plan_of
from shared.errors import Refused

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _methods(given: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(method.upper() for method in given)
    if unknown := [method for method in found if method not in METHODS]:
        raise ValueError(f"{unknown[0][:20]} is none of {', '.join(METHODS)}")
    return found


class HttpSettings(WebSettings):
    """`methods` and `paths` (below the base address; `*` stands for a segment, `**` for several) say what may be asked."""

    methods: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_methods)] = ("GET",)
    paths: Annotated[tuple[Path, ...], Field(min_length=1)] = ("/**",)

    def may(self, method: str, place: Place) -> bool:
        return method in self.methods and fits(place, self.paths)


class HttpArguments(BaseModel):
    """Of an operation, which is called as its method. `path` lies below the base address. Either `json` or `text` is the body."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    path: Annotated[str, Field(max_length=4000, pattern=r"^/")]
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    content: Annotated[Any, Field(alias="json")] = None
    text: str | None = None

    @property
    def url_path(self) -> str:
        return quote(self.path, safe="/%:@!$&'()*+,;=~-._") + (f"?{urlencode(self.query)}" if self.query else "")

    def body(self) -> tuple[bytes, str]:
        """Its bytes and their type."""
        if self.content is not None and self.text is not None:
            raise Refused("give json or text, not both", code="arguments")
        if self.content is not None:
            return json.dumps(self.content, ensure_ascii=False).encode(), "application/json"
        return (self.text or "").encode(), "text/plain; charset=utf-8"


class Http:
    name: ClassVar[str] = "http"
    about: ClassVar[str] = "Any HTTP service, by its base address"
    settings: ClassVar[type[KindSettings]] = HttpSettings
    operations: ClassVar[frozenset[str]] = frozenset(method.lower() for method in METHODS)

    def hosts(self, settings: KindSettings) -> tuple[str, ...]:
        return hosts_of(_settings(settings))

    def plan(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        settings = _settings(request.settings)
        method, place = _asked_for(request, settings)
        if method not in settings.methods:
            raise Refused(
                f"connector {request.connector} takes {', '.join(settings.methods)}, not {method[:20]}", code="method"
            )
        check_path(place, settings.paths)
        return plan_of(request, settings, method.lower(), f"{method} {place.line}", place, publics)

    async def run(self, exchange: Exchange) -> Any:
        settings = _settings(exchange.request.settings)
        async with answer_to(exchange, settings, _asked(exchange, settings)) as answer:
            if exchange.request.http is not None:
                return await answer.relay()
            exchange.answered(str(answer.status))
            return _result(answer, await answer.whole())

    async def check(self, settings: KindSettings, way: Way) -> str:
        return await look(_settings(settings), way)


def _settings(given: KindSettings) -> HttpSettings:
    assert isinstance(given, HttpSettings)
    return given


def _asked_for(request: Request, settings: HttpSettings) -> tuple[str, Place]:
    if request.http is not None:
        return request.http.method.upper(), resolve(settings.base, request.connector, request.http.url)
    arguments = read_arguments(HttpArguments, request)
    return request.operation.upper(), resolve(
        settings.base, request.connector, f"https://{request.connector}{OWN}{arguments.url_path}"
    )


def _asked(exchange: Exchange, settings: HttpSettings) -> Asked:
    request = exchange.request
    method, place = _asked_for(request, settings)
    if request.http is not None:
        return tunnelled(exchange, method, place, settings)
    arguments = read_arguments(HttpArguments, request)
    raw, kind = arguments.body()
    given = (
        {"content-type": kind, **{name.lower(): value for name, value in arguments.headers.items()}}
        if raw
        else arguments.headers
    )
    headers = outward(given.items(), (settings.auth_header,))
    return Asked(method, place, headers, Replay(bytes_of(raw)) if raw else None, len(raw) or None)


def _result(answer: Answer, raw: bytes) -> dict[str, Any]:
    """{"status", "headers", and "json", "text" or "base64": the body as it is}."""
    found: dict[str, Any] = {"status": answer.status, "headers": dict(answer.headers)}
    if "json" in found["headers"].get("content-type", ""):
        try:
            return found | {"json": json.loads(raw)}
        except (ValueError, RecursionError):
            pass  # it says JSON and is none: the asker gets what there is
    try:
        return found | {"text": raw.decode()}
    except UnicodeDecodeError:
        return found | {"base64": base64.b64encode(raw).decode()}


KIND = Http()
