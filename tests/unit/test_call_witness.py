"""What the call audit says of a call that nobody settled."""

from typing import Any

import pytest

from services.agent.spend.domain import Figures
from services.agent.spend.usecases.close_open import Known
from services.agent.spend.witness import known_from


def entry(outcome: str, tokens_in: int | None = None, tokens_out: int | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "tokens_in": tokens_in, "tokens_out": tokens_out}


@pytest.mark.parametrize(
    ("entries", "known"),
    [
        ([], None),
        ([entry("refused")], Known(left=False)),
        ([entry("begun")], Known(left=True)),
        ([entry("lost"), entry("begun")], Known(left=True)),
        ([entry("cancelled", 12, None), entry("begun")], Known(left=True)),
        ([entry("ok", 12, 3), entry("begun")], Known(left=True, figures=Figures(12, 3))),
        ([entry("failed", 12, 0), entry("begun")], Known(left=True, figures=Figures(12, 0))),
    ],
)
def test_what_the_audit_says_of_a_call(entries: list[dict[str, Any]], known: Known | None) -> None:
    assert known_from(entries) == known
