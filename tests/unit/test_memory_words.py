"""Which lines of memory a person means."""

import pytest

from services.agent.memory.domain import matching

LINES = ["- 2026-11-30: der Schlüssel liegt unter der Matte", "- 2026-11-30: invoices go to accounting", "- a boat"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("den Schlüssel", [0]),
        ("the invoices", [1]),
        ("mein boat", [2]),
        ("a boat", [2]),
        ("INVOICES go to accounting", [1]),
        ("der Hund", []),
        ("the ", []),
        ("", []),
    ],
)
def test_an_article_is_no_hindrance(words: str, found: list[int]) -> None:
    assert matching(LINES, words) == [LINES[each] for each in found]
