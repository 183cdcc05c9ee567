"""What a model costs: exactly, from the operator's file or from what came with the product; unknown is never 0."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent.spend.domain import Estimate, Figures
from services.agent.spend.listed import listed, listed_price
from services.agent.spend.prices import Prices
from services.agent.spend.rates import FREE, Rate, Rates
from shared.clock import now

FILE = """
["openai/gpt-4o-mini"]
input = "0.10"
output = 0.20
[mini]
input = 1
output = "2"
call = "0.001"
["local/llama"]
free = true
["bad/negative"]
input = "-1"
output = "1"
["bad/nan"]
input = "NaN"
output = "1"
["bad/half"]
input = "1"
["bad/word"]
input = "1"
output = "1"
price = "1"
["bad/both"]
free = true
input = "1"
["gpt-4o"]
input = true
output = "1"
"""
MILLION = Figures(1_000_000, 1_000_000)


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    (tmp_path / "prices.toml").write_text(FILE)
    return Prices(tmp_path)


def cost(rates: Rates | None, figures: Figures = MILLION) -> Decimal | None:
    assert rates is not None
    return rates.of(figures)


def test_the_file_comes_first_and_what_it_does_not_name_is_as_listed(prices: Prices) -> None:
    assert cost(prices.of("openai", "gpt-4o-mini")) == Decimal("0.30")
    assert cost(prices.of("other", "gpt-4o-mini")) == Decimal("0.75")
    assert cost(prices.of("whatever", "mini")) == Decimal("3.001")
    assert prices.of("local", "llama") == Rates(FREE.steps, "prices.toml")
    assert prices.of("", "anything") is FREE


@pytest.mark.parametrize("model", ["negative", "nan", "half", "word", "both"])
def test_an_entry_that_is_no_price_leaves_its_model_without_one(prices: Prices, model: str) -> None:
    assert prices.of("bad", model) is None
    assert prices.of("openai", "gpt-4o") is None, "the file speaks of it, so what is listed does not count"


@pytest.mark.parametrize("text", ["[", "\x00", "a = 1\na = 2", "\xff\xfe"])
def test_a_file_that_cannot_be_read_leaves_every_model_without_a_price(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_bytes(text.encode("latin-1"))
    broken = Prices(tmp_path)
    assert broken.of("openai", "gpt-4o-mini") is None and broken.overrides().broken
    assert broken.of("", "built-in") is FREE


def test_a_correction_counts_at_once(prices: Prices, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('["openai/gpt-4o-mini"]\ninput = "7"\noutput = "0"\n# longer than before')
    assert cost(prices.of("openai", "gpt-4o-mini")) == Decimal(7)
    (tmp_path / "prices.toml").unlink()
    assert cost(prices.of("openai", "gpt-4o-mini")) == Decimal("0.75")


def test_what_nobody_knows_is_unknown() -> None:
    assert listed_price("shop", "nobody-heard-of-it", now()) is None
    assert listed_price("openai", "text-embedding-3-small", now()) is None, "it is not priced both ways"


def test_a_larger_request_pays_the_step_it_passes() -> None:
    rates = listed_price("google", "gemini-2.5-pro", now())
    assert rates is not None
    assert rates.of(Figures(200_000, 0)) == Decimal("0.25")
    assert rates.of(Figures(200_001, 0)) == Decimal("0.5000025")


def test_every_listed_price_is_an_upper_bound_and_exact() -> None:
    """Of each of the some two thousand models: whatever it uses within the estimate costs no more than was reserved."""
    priced = 0
    for provider, model in listed():
        rates = listed_price(provider, model, now())
        if rates is None:
            continue
        priced += 1
        most = rates.most(Estimate(300_000, 4_096))
        for used in (Figures(0, 0), Figures(1, 1, 1), Figures(300_000, 4_096), Figures(300_000, 4_096, 300_000), Figures(130_000, 9)):  # fmt: skip
            found = rates.of(used)
            assert found is not None and 0 <= found <= most, (provider, model, used)
    assert priced > 500


MONEY = st.decimals(0, 1000, places=6)
TOKENS = st.integers(0, 10**7)


@given(MONEY, MONEY, st.none() | MONEY, MONEY, TOKENS, TOKENS, st.data())
def test_no_call_costs_more_than_its_reservation(
    one: Decimal, two: Decimal, three: Decimal | None, call: Decimal, most_in: int, most_out: int, data: st.DataObject
) -> None:
    rates = Rates((Rate(one, two, three, call), Rate(two, one, three, call, above=5000)), "test")
    used_in = data.draw(st.integers(0, most_in))
    figures = Figures(used_in, data.draw(st.integers(0, most_out)), data.draw(st.integers(0, used_in)))
    found = rates.of(figures)
    assert found is not None and 0 <= found <= rates.most(Estimate(most_in, most_out))
    assert rates.of(Figures(None, 1)) is None and rates.of(Figures(1, None)) is None
