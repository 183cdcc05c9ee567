"""Which model answers: the built-in one, or a provider's through its connector. This process has no key and no other way out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import httpx2
from pydantic_ai.models import Model

from schemas.outward import Owner
from schemas.statements import Signed
from services.agent.loop.outside import OwnersTransport
from services.agent.owners.domain import Me
from shared.asking.asker import Asker
from shared.errors import Refused

PATIENCE = httpx2.Timeout(120.0)
"""Seconds without a byte. How long a call may take in all is the connector's to say."""
NO_KEY = "none: the connector puts in the real one"
Provider = Literal["openai", "anthropic"]


class Settings(Protocol):
    def model(self) -> tuple[str, str] | None: ...


class ActingFor(Protocol):
    async def need(self, owner: Owner) -> Signed: ...


@dataclass(frozen=True)
class Chosen:
    """A model, through which connector (empty: none), and for whom its calls are made there."""

    model: Model
    connector: str = ""
    delegation: Signed | None = None

    @property
    def is_built_in(self) -> bool:
        return not self.connector

    @property
    def name(self) -> str:
        return self.model.model_name if self.is_built_in else f"{self.connector}/{self.model.model_name}"


class Models:
    """One client for each provider's model, kept; what differs by owner travels beside it (`outside.delegation`)."""

    def __init__(self, asker: Asker, settings: Settings, acting: ActingFor, built_in: Callable[[], Model]) -> None:
        self._asker, self._settings, self._acting = asker, settings, acting
        self._built_in = built_in()
        self._providers: dict[str, Provider] = {}
        self._models: dict[tuple[str, str], Model] = {}

    async def choose(self, me: Me) -> Chosen:
        """Refused (code `delegation`) when a provider is chosen and the agent may not act for this owner there."""
        wanted = self._settings.model()
        if wanted is None:
            return Chosen(self._built_in)
        connector, name = wanted
        delegation = None if me.is_guest else await self._acting.need(me.owner)
        return Chosen(await self._model(connector, name, delegation), connector, delegation)

    async def _model(self, connector: str, name: str, delegation: Signed | None) -> Model:
        if (connector, name) not in self._models:
            provider = self._providers.get(connector) or await self._ask_provider(connector, delegation)
            way = OwnersTransport(self._asker, connector)
            self._models[connector, name] = await asyncio.to_thread(make_model, way, provider, connector, name)
        return self._models[connector, name]

    async def _ask_provider(self, connector: str, delegation: Signed | None) -> Provider:
        """Whose interface the connector speaks. It is asked for what only one of them has, without what that needs: nothing leaves."""
        try:
            await self._asker.call(connector, "count_tokens", {}, delegation=delegation)
        except Refused as error:
            if error.code == "operation":
                self._providers[connector] = "openai"
            elif error.code == "arguments":
                self._providers[connector] = "anthropic"
            else:
                raise
        return self._providers.get(connector, "anthropic")


def make_model(way: httpx2.AsyncBaseTransport, provider: Provider, connector: str, name: str) -> Model:
    """Its client makes every request once: what is tried again is a call of its own. Imported here, in a thread: it costs 55 MB and a second."""
    http = httpx2.AsyncClient(transport=way, timeout=PATIENCE)
    base = f"https://{connector}.connector"
    if provider == "openai":
        from openai import AsyncOpenAI  # noqa: PLC0415
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
        from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

        client = AsyncOpenAI(api_key=NO_KEY, base_url=base, http_client=http, max_retries=0)
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))
    from anthropic import AsyncAnthropic  # noqa: PLC0415
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    asked = AsyncAnthropic(api_key=NO_KEY, base_url=base, http_client=http, max_retries=0)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=asked))
