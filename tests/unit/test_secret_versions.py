"""Whatever people do to a secret, in whatever order: what was revoked never opens again, and nothing gets wider by itself."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connectors.book.domain import Book
from shared.clock import now
from shared.errors import Refused, SchleuseError
from tests.factories.secrets import change, place

START = now()
WHERE = "agent/llm/openai"
hours = st.integers(0, 48).map(lambda each: timedelta(hours=each))
operations = st.sets(st.sampled_from(["chat", "embed", "list"]), max_size=3).map(lambda each: tuple(sorted(each)))
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "rotate", "restore", "revoke", "narrow"]),
        st.integers(0, 4),
        operations,
        st.none() | hours,
        st.none() | hours,
    ),
    max_size=12,
)


@given(steps)
@settings(max_examples=150, deadline=None)
def test_the_life_of_a_secret(told: list[tuple[Any, int, tuple[str, ...], Any, Any]]) -> None:
    book, revoked = Book(), set[int]()
    for hour, (action, version, allowed, overlap, expires) in enumerate(told):
        at, held = START + timedelta(hours=hour), book.secrets.get(place(WHERE))
        number = 1 + max((each.number for each in held.versions), default=0) if held else 1
        new = action in ("put", "rotate")
        said = change(
            WHERE,
            action,
            number if new else version,
            held.changes if held else 0,
            sealed_hash=f"{number:064x}" if new else None,
            operations=allowed,
            overlap_until=at + overlap if overlap is not None else None,
            expires_at=at + expires if expires is not None and new else None,
            decided_at=at,
        )
        try:
            book.check_secret(said)
        except SchleuseError:
            continue
        made = book.enter_secret(said, f"{hour:064x}")
        revoked |= {each.number for each in made.versions if each.revoked}
        assert {each.number for each in made.versions if each.revoked} == revoked, "for good"
        assert made.current == 0 or (made.version(made.current) and made.current not in revoked)
        assert made.changes == (held.changes if held else 0) + 1
        if held is not None and action != "put" and held.operations:
            assert made.operations and set(made.operations) <= set(held.operations), "never wider"
        for later in range(0, 60, 7):
            check_usable(book, at + timedelta(hours=later), revoked)


def check_usable(book: Book, at: Any, revoked: set[int]) -> None:
    secret = book.secrets[place(WHERE)]
    for each in secret.usable(at):
        assert each.number not in revoked and not secret.revoked
        assert each.expires_at is None or at < each.expires_at
        assert each.number == secret.current or (each.usable_until is not None and at < each.usable_until)
    numbers = [each.number for each in secret.usable(at)]
    assert secret.current not in numbers or numbers[0] == secret.current


def test_what_is_shown_of_a_secret_is_that_of_the_version_in_use() -> None:
    """An account that moved to another server and back: its value and its server belong together."""
    book = Book()
    for number, host in ((1, "old.example.com"), (2, "new.example.com")):
        action: Any = "rotate" if number > 1 else "put"
        said = change(WHERE, action, number, number - 1, sealed_hash=f"{number:064x}", public={"host": host})
        book.check_secret(said)
        assert book.enter_secret(said, f"{number:064x}").public == {"host": host}
    back = change(WHERE, "restore", 1, 2, sealed_hash=None)
    book.check_secret(back)
    assert book.enter_secret(back, "3" * 64).public == {"host": "old.example.com"}
    with pytest.raises(Refused, match="at most 7 days"):
        book.check_secret(
            change(WHERE, "restore", 2, 3, sealed_hash=None, decided_at=START, overlap_until=START + timedelta(days=8))
        )
