"""What a model costs: exact decimals, from tokens to dollars."""

from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal, localcontext

from services.agent.spend.domain import Estimate, Figures

_EXACT = Context(prec=60)
_PLACES = Decimal("1e-18")
"""As many places as the ledger keeps; what is smaller is rounded up."""
PER = 1_000_000


@dataclass(frozen=True)
class Rate:
    """Dollars per million tokens while a request has more than `above` tokens; `call`: dollars for each call beside that."""

    tokens_in: Decimal
    tokens_out: Decimal
    tokens_cached: Decimal | None = None
    call: Decimal = Decimal(0)
    above: int = -1

    @property
    def cached(self) -> Decimal:
        """Without a price of their own, cached tokens cost what others do."""
        return self.tokens_in if self.tokens_cached is None else self.tokens_cached


@dataclass(frozen=True)
class Rates:
    """A price: the rates of one model, smallest requests first. The whole request pays the highest step that it passes."""

    steps: tuple[Rate, ...]
    source: str

    @property
    def is_free(self) -> bool:
        return not any(each.tokens_in or each.tokens_out or each.cached or each.call for each in self.steps)

    def most(self, estimate: Estimate) -> Decimal:
        """Whatever it uses of that, it costs no more; also where a larger request is cheaper by the token."""
        steps = [each for each in self.steps if estimate.tokens_in > each.above]
        dearest_in = max(max(each.tokens_in, each.cached) for each in steps)
        dearest_out = max(each.tokens_out for each in steps)
        return _dollars(
            (dearest_in, estimate.tokens_in), (dearest_out, estimate.tokens_out), max(each.call for each in steps)
        )

    def of(self, figures: Figures) -> Decimal | None:
        if figures.tokens_in is None or figures.tokens_out is None:
            return None
        rate = next(each for each in reversed(self.steps) if figures.tokens_in > each.above)
        cached = figures.tokens_cached or 0
        fresh = (rate.tokens_in, figures.tokens_in - cached)
        return _dollars(fresh, (rate.tokens_out, figures.tokens_out), rate.call, (rate.cached, cached))


FREE = Rates((Rate(Decimal(0), Decimal(0)),), "free")


class Unknown:
    """Of a model without a valid price, used by an account that has no cap: nothing is known of what it costs."""

    is_free = False

    def most(self, _: Estimate) -> Decimal:
        return Decimal(0)

    def of(self, _: Figures) -> Decimal | None:
        return None


def _dollars(
    first: tuple[Decimal, int],
    second: tuple[Decimal, int],
    call: Decimal,
    third: tuple[Decimal, int] = (Decimal(0), 0),
) -> Decimal:
    with localcontext(_EXACT):
        total = sum((rate * count for rate, count in (first, second, third)), Decimal(0)) / PER + call
        return total.quantize(_PLACES, ROUND_UP)
