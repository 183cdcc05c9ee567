"""Which figures of a call are believed, and what it cost by them."""

from dataclasses import dataclass, replace
from decimal import Decimal

from services.agent.spend.domain import Estimate, Figures, Price

MOST_TOKENS = 10**12
"""More than any call can use."""


@dataclass(frozen=True)
class Cost:
    """What a call used and cost, as the ledger keeps it; `doubted` says what was not believed."""

    figures: Figures
    dollars: Decimal | None
    doubted: str = ""


def cost_of(price: Price, estimate: Estimate, reserved: Decimal, said: Figures) -> Cost:
    """A figure below zero or above what the call could use at most is not believed. Where figures are missing then, the call counts with what was
    reserved for it, flagged as estimated: unknown is never 0 (rule 30), and never more than the cap was asked for."""
    figures, doubted = believed(said, estimate)
    if price.is_free:
        return Cost(figures, Decimal(0), doubted)
    dollars = price.of(figures)
    if dollars is None and reserved > 0:
        return Cost(replace(figures, estimated=True), reserved, doubted)
    return Cost(figures, None if dollars is None else min(dollars, reserved), doubted)


def believed(said: Figures, estimate: Estimate) -> tuple[Figures, str]:
    """The figures without those that cannot be true, and which those were."""
    tokens_in, bad_in = _within(said.tokens_in, estimate.tokens_in)
    tokens_out, bad_out = _within(said.tokens_out, estimate.tokens_out)
    cached, bad_cached = _within(said.tokens_cached, estimate.tokens_in if tokens_in is None else tokens_in)
    names = {"tokens_in": bad_in, "tokens_out": bad_out, "tokens_cached": bad_cached}
    doubted = ", ".join(f"{name} {getattr(said, name)}" for name, bad in names.items() if bad)
    kept = None if tokens_in is None else cached
    return Figures(tokens_in, tokens_out, kept, said.estimated or bool(doubted)), doubted


def _within(value: object, most: int) -> tuple[int | None, bool]:
    """A count from 0 to `most`; what is above is taken for `most`, what is no count for unsaid."""
    if value is None:
        return None, False
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None, True
    return (value, False) if value <= most else (most, True)
