"""SE-04: the scope of a secret is exact, and what lies outside of it answers like what never was."""

from datetime import timedelta

import pytest

from schemas.outward import Owner
from services.connectors.book.domain import Book
from services.connectors.secrets.choosing import choose
from shared.clock import now
from shared.errors import NotFound, Refused
from tests.factories.secrets import change, enter, put_in

SEVEN, EIGHT = Owner(kind="user", id="7"), Owner(kind="user", id="8")


@pytest.fixture
def book() -> Book:
    found = put_in(Book(), "console/x/shared")
    put_in(found, "console/x/user:7/own")
    return put_in(found, "console/y/elsewhere")


@pytest.mark.parametrize(
    ("asker", "connector", "owner", "name"),
    [
        ("site", "x", None, "shared"),
        ("agent", "x", None, "shared"),
        ("console", "y", None, "shared"),
        ("site", "y", None, "shared"),
        ("console", "x", None, "own"),
        ("console", "x", EIGHT, "own"),
        ("console", "x", None, "elsewhere"),
        ("console", "x", None, "user:7/own"),
        ("console", "x", None, "0" * 64),
    ],
)
def test_outside_of_the_scope_there_is_no_such_secret(
    book: Book, asker: str, connector: str, owner: Owner | None, name: str
) -> None:
    with pytest.raises(NotFound) as unknown:
        choose(Book(), asker, connector, owner, name, "GET", now())  # type: ignore[arg-type]
    with pytest.raises(NotFound) as hidden:
        choose(book, asker, connector, owner, name, "GET", now())  # type: ignore[arg-type]
    assert (hidden.value.code, hidden.value.message) == ("secret_unknown", unknown.value.message)


def test_in_scope_it_is_found_for_the_owner_and_the_owners_own_comes_first(book: Book) -> None:
    assert str(choose(book, "console", "x", SEVEN, "own", "GET", now()).place) == "console/x/user:7/own"
    assert str(choose(book, "console", "x", EIGHT, "shared", "GET", now()).place) == "console/x/shared"
    put_in(book, "console/x/user:7/shared")
    assert str(choose(book, "console", "x", SEVEN, "shared", "GET", now()).place) == "console/x/user:7/shared"


def test_without_a_name_there_is_no_default_among_several(book: Book) -> None:
    assert choose(book, "console", "x", None, "", "GET", now()).place.name == "shared"
    with pytest.raises(Refused, match="name one of own, shared") as several:
        choose(book, "console", "x", SEVEN, "", "GET", now())
    assert several.value.code == "secret_ambiguous"
    with pytest.raises(NotFound):
        choose(book, "site", "x", None, "", "GET", now())


def test_an_account_of_two_parts_goes_by_one_name() -> None:
    book = put_in(
        put_in(Book(), "agent/mail/user:7/inbox-imap", type="imap"), "agent/mail/user:7/inbox-smtp", type="smtp"
    )
    found = [choose(book, "agent", "mail", SEVEN, "inbox", "read", now(), [kind]) for kind in ("imap", "smtp")]
    assert [each.type for each in found] == ["imap", "smtp"]
    with pytest.raises(NotFound):
        choose(book, "agent", "mail", SEVEN, "inbox", "read", now())


def test_revoked_expired_and_narrowed_say_what_to_do(book: Book) -> None:
    enter(book, change("console/x/shared", "narrow", 0, 1, operations=("GET",)))
    assert choose(book, "console", "x", None, "shared", "GET", now())
    with pytest.raises(Refused, match="may be used for GET only, not for POST") as narrowed:
        choose(book, "console", "x", None, "shared", "POST", now())
    put_in(book, "console/x/short", expires_at=now() + timedelta(hours=1))
    with pytest.raises(Refused, match="has expired; an owner or admin rotates it") as expired:
        choose(book, "console", "x", None, "short", "GET", now() + timedelta(hours=2))
    enter(book, change("console/x/shared", "revoke", 0, 2))
    with pytest.raises(Refused, match="was revoked") as revoked:
        choose(book, "console", "x", None, "shared", "GET", now())
    codes = [each.value.code for each in (narrowed, expired, revoked)]
    assert codes == ["secret_narrowed", "secret_expired", "secret_revoked"]


def test_versions_overlap_and_an_earlier_one_is_restored() -> None:
    book, at = put_in(Book(), "agent/llm/openai"), now()
    enter(
        book, change(action="rotate", version=2, prior=1, sealed_hash="b" * 64, overlap_until=at + timedelta(hours=1))
    )
    secret = choose(book, "agent", "llm", None, "openai", "chat", at)
    assert [each.number for each in secret.usable(at)] == [2, 1]
    assert [each.number for each in secret.usable(at + timedelta(hours=2))] == [2]
    enter(book, change(action="restore", version=1, prior=2))
    secret = choose(book, "agent", "llm", None, "openai", "chat", at)
    assert [each.number for each in secret.usable(now())] == [1]
    with pytest.raises(Refused, match="is in use; rotate or restore first"):
        enter(book, change(action="revoke", version=1, prior=3))
