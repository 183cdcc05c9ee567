"""A kind of connector that the product does not have: one file and one registration are all it takes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from services.connectors.egress.way import Way
from services.connectors.kinds.arguments import read_arguments
from services.connectors.kinds.base_address import OWN, resolve
from services.connectors.kinds.kind import Exchange, KindSettings, Plan, Request
from services.connectors.kinds.sending import Asked
from services.connectors.kinds.web import WebSettings, answer_to, hosts_of, look, plan_of
from shared.errors import Refused


class WeatherSettings(WebSettings):
    pass


class Ask(BaseModel):
    model_config = ConfigDict(extra="forbid")

    town: str = Field(max_length=80, pattern=r"^[A-Za-z]+$")


class Weather:
    name: ClassVar[str] = "weather"
    about: ClassVar[str] = "The weather of a town"
    settings: ClassVar[type[KindSettings]] = WeatherSettings
    operations: ClassVar[frozenset[str]] = frozenset({"now"})

    def hosts(self, settings: KindSettings) -> tuple[str, ...]:
        return hosts_of(_settings(settings))

    def plan(self, request: Request, publics: Sequence[Mapping[str, str]]) -> Plan:
        if request.operation != "now":
            raise Refused("weather takes now", code="operation")
        asked = _asked(request)
        return plan_of(request, _settings(request.settings), "now", asked.place.line, asked.place, publics)

    async def run(self, exchange: Exchange) -> Any:
        async with answer_to(exchange, _settings(exchange.request.settings), _asked(exchange.request)) as answer:
            exchange.answered(str(answer.status))
            return {"weather": json.loads(await answer.whole())}

    async def check(self, settings: KindSettings, way: Way) -> str:
        return await look(_settings(settings), way)


def _settings(given: KindSettings) -> WeatherSettings:
    assert isinstance(given, WeatherSettings)
    return given


def _asked(request: Request) -> Asked:
    town = read_arguments(Ask, request).town
    url = f"https://{request.connector}{OWN}/weather/{town}"
    return Asked("GET", resolve(_settings(request.settings).base, request.connector, url))


KIND = Weather()
