"""Prices that came with the product: genai-prices, offline. It never asks anybody for newer ones."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from services.agent.spend.rates import Rate, Rates


def listed_price(connector: str, model: str, at: datetime) -> Rates | None:
    """A connector that is called as a provider is has that provider's prices; else the model's own maker's. None: unknown, or not both ways priced."""
    found = _find(connector.lower(), model)
    if found is None:
        return None
    provider, info = found
    return _rates(info.get_prices(at), f"genai-prices {version()}: {provider}")


def listed() -> Iterator[tuple[str, str]]:
    """Provider and model of everything that has a price."""
    for provider in _snapshot().providers:
        yield from ((provider.id, model.id) for model in provider.models)


@lru_cache
def version() -> str:
    import genai_prices  # noqa: PLC0415 - 10 MB of prices, needed once a provider is configured

    return str(genai_prices.__version__)


def _snapshot() -> Any:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - as above

    return get_snapshot()


@lru_cache(maxsize=256)
def _find(connector: str, model: str) -> tuple[str, Any] | None:
    known = {provider.id for provider in _snapshot().providers}
    for provider_id in (connector,) if connector in known else (None,):
        try:
            provider, info = _snapshot().find_provider_model(model, None, provider_id, None)
        except LookupError:
            continue
        return str(provider.id), info
    return None


def _rates(prices: Any, source: str) -> Rates | None:
    """None when it says nothing about what goes in or comes out: unknown is not 0 (rule 30)."""
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    per_call = Decimal(prices.requests_kcount or 0) / 1000
    starts = sorted({-1, *_starts(prices.input_mtok), *_starts(prices.output_mtok), *_starts(prices.cache_read_mtok)})
    steps = tuple(
        Rate(
            _at(prices.input_mtok, start),
            _at(prices.output_mtok, start),
            None if prices.cache_read_mtok is None else _at(prices.cache_read_mtok, start),
            per_call,
            start,
        )
        for start in starts
    )
    return Rates(steps, source)


def _starts(price: Any) -> set[int]:
    return {tier.start for tier in getattr(price, "tiers", ())}


def _at(price: Any, start: int) -> Decimal:
    """The price of a request that is larger than `start` tokens, before the next step."""
    reached = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= start]
    base = getattr(price, "base", price)
    return Decimal(reached[-1] if reached else base)
