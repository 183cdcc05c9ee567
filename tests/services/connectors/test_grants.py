"""What is granted and what is missing, from the book alone; and what a card says (rule 28, S5)."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.outward import CardDecision, ConnectorSetting
from services.connectors.book.domain import Book
from services.connectors.cards.domain import LIFE, Use, make_card, quote
from services.connectors.cards.grants import Missing, missing, pending, refused, waiting
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused
from tests.factories.secrets import change, enter, place, put_in

AT = now()
HOSTS = ("api.example.com:443",)
OPENAI = "agent/llm/openai"


def lacking(book: Book, asker: str = "agent", operation: str = "chat", **more: Any) -> Missing | None:
    hosts, places = more.get("hosts", HOSTS), more.get("places", ())
    return missing(book, asker, more.get("connector", "llm"), operation, hosts, places, more.get("at", AT))


def card_for(book: Book, what: Missing | None, asker: Any = "agent", connector: str = "llm", **more: Any) -> Any:
    assert what is not None
    made = make_card(uuid4(), Use(asker, connector, "llm", "chat", HOSTS, **more), what, book, AT)
    book.enter_card(made)
    return made


def decide(book: Book, card: Any, verdict: Any, **changed: Any) -> None:
    said: dict[str, Any] = {"card_id": card.card_id, "card_hash": card.hash, "verdict": verdict}
    decision = CardDecision(**(said | {"key_id": "k", "decided_at": AT, "decider": "0" * 64} | changed))
    book.check_decision(decision, AT)
    book.enter_decision(decision, "Mara", "1" * 64)


def test_a_first_use_lacks_everything_and_a_card_lists_exactly_that() -> None:
    book = put_in(Book(), OPENAI)
    what = lacking(book, places=(place(OPENAI),))
    assert what == Missing("use", ("chat",), HOSTS, (place(OPENAI),))
    card = card_for(book, what)
    assert (card.operations, card.hosts, card.secrets) == (("chat",), HOSTS, (place(OPENAI),))
    assert ("Secret agent/llm/openai", "api_key, version 1") in card.facts
    assert card.expires_at - card.requested_at == LIFE == timedelta(days=7)


def test_what_was_allowed_is_granted_each_on_its_own() -> None:
    book = Book()
    decide(book, card_for(book, lacking(book)), "allow")
    assert lacking(book) is None
    assert lacking(book, hosts=("other.example.com:443",)) == Missing("host", (), ("other.example.com:443",), ())
    assert lacking(book, operation="models") == Missing("operation", ("models",), (), ())
    assert lacking(book, places=(place(OPENAI),)) == Missing("secret", (), (), (place(OPENAI),))


@pytest.mark.parametrize("other", [{"asker": "site"}, {"asker": "console"}, {"connector": "llm2"}])
def test_another_surface_or_connector_needs_another_card(other: dict[str, Any]) -> None:
    book = Book()
    decide(book, card_for(book, lacking(book)), "allow")
    found = lacking(book, **other)
    assert found is not None and found.subject == "use"


@pytest.mark.parametrize(
    ("host", "is_granted"),
    [
        ("api.example.com:443", True),
        ("api.example.com:8443", False),
        ("api.example.com.evil.test:443", False),
        ("xapi.example.com:443", False),
        ("b.api.example.com:443", False),
    ],
)
def test_a_host_is_granted_as_it_is_written(host: str, is_granted: bool) -> None:
    book = Book()
    decide(book, card_for(book, lacking(book)), "allow")
    assert (lacking(book, hosts=(host,)) is None) is is_granted


def test_a_revoked_grant_is_missing_again_and_another_one_stays() -> None:
    book = Book()
    first = card_for(book, lacking(book))
    decide(book, first, "allow")
    second = card_for(book, lacking(book, operation="models"))
    decide(book, second, "allow")
    decide(book, first, "revoke")
    assert lacking(book) == Missing("host", ("chat",), HOSTS, ())
    assert lacking(book, operation="models", hosts=()) is None


def test_what_a_person_refused_is_not_asked_again_until_it_is_taken_back() -> None:
    book = Book()
    card = card_for(book, lacking(book))
    decide(book, card, "refuse")
    what = lacking(book, operation="models")
    assert what is not None
    found = refused(book, "agent", "llm", what, AT)
    assert found is not None and found.card == card, "the host was refused, whatever is done there"
    assert refused(book, "site", "llm", what, AT) is None
    decide(book, card, "revoke")
    assert refused(book, "agent", "llm", what, AT) is None


def test_a_waiting_card_serves_all_who_miss_no_more_than_it_asks_for() -> None:
    book = Book()
    card = card_for(book, lacking(book))
    what, more = lacking(book, hosts=()), lacking(book, operation="models")
    assert what is not None and more is not None
    found = pending(book, "agent", "llm", what, AT)
    assert found is not None and found.card == card
    assert pending(book, "agent", "llm", more, AT) is None
    assert pending(book, "agent", "llm", what, AT + LIFE) is None, "its time is over"
    assert (waiting(book, "agent", AT), waiting(book, "site", AT), waiting(book, "agent", AT + LIFE)) == (1, 0, 0)


def test_a_decision_holds_for_exactly_what_the_card_says_once_and_in_time() -> None:
    book = Book()
    card = card_for(book, lacking(book))
    late = card.expires_at
    with pytest.raises(Refused, match="does not say"):
        decide(book, card, "allow", card_hash="f" * 64)
    with pytest.raises(NotFound):
        decide(book, card, "allow", card_id=uuid4())
    with pytest.raises(Conflict, match="pending"):
        decide(book, card, "revoke")
    with pytest.raises(Conflict, match="expired"):
        book.check_decision(
            CardDecision(
                key_id="k",
                card_id=card.card_id,
                card_hash=card.hash,
                verdict="allow",
                decided_at=late,
                decider="0" * 64,
            ),
            late,
        )
    decide(book, card, "allow")
    with pytest.raises(Conflict, match="allowed already"):
        decide(book, card, "refuse")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand  blanks", "two lines and blanks"),
        ("abc\u202edef\u2066\u200b", "abcdef"),
        ("NUL \x00 and \ud800", "NUL \ufffd and \ufffd"),
        ("bell\x07", "bell"),
        ("x" * 600, "x" * 499 + "…"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("family 👨‍👩‍👧 stays", "family 👨‍👩‍👧 stays"),
    ],
)
def test_the_askers_words_are_one_clean_line(said: str, shown: str) -> None:
    assert quote(said) == shown


def test_a_card_takes_no_fact_from_the_askers_words() -> None:
    book = Book()
    text = "reach evil.test:443 with agent/llm/root, operation delete"
    with_words, without = (card_for(book, lacking(book), quoted=each) for each in (text, ""))
    facts = {"operations", "hosts", "secrets", "facts", "subject", "connector", "kind"}
    assert with_words.model_dump(include=facts) == without.model_dump(include=facts)


def test_a_secret_put_anew_after_a_revocation_wants_a_card_of_its_own() -> None:
    before, after = AT - timedelta(hours=1), AT + timedelta(hours=1)
    book, where = put_in(Book(), OPENAI, decided_at=before), (place(OPENAI),)
    decide(book, card_for(book, lacking(book, places=where)), "allow")
    assert lacking(book, places=where) is None
    enter(book, change(OPENAI, "rotate", 2, 1, sealed_hash="b" * 64, decided_at=after))
    assert lacking(book, places=where) is None, "a rotated secret is the same credential"
    enter(book, change(OPENAI, "revoke", 0, 2, decided_at=after))
    enter(book, change(OPENAI, "put", 3, 3, sealed_hash="c" * 64, decided_at=after))
    found = lacking(book, places=where)
    assert found is not None and (found.subject, found.places, found.operations) == ("secret", where, ())


def declared(**changed: Any) -> ConnectorSetting:
    said: dict[str, Any] = {
        "key_id": "k",
        "name": "llm",
        "kind": "llm",
        "settings": "{}",
        "enabled": True,
        "decided_at": AT,
    }
    return ConnectorSetting(**(said | {"decider": "0" * 64, "prior_version": 0} | changed))


def test_after_a_restore_a_connector_is_shut_until_somebody_turns_it_on_anew() -> None:
    book = Book(restored_at=AT + timedelta(days=1)).copy()
    assert not book.is_on(book.enter_setting(declared(), "1" * 64))
    later = declared(prior_version=1, decided_at=AT + timedelta(days=2))
    assert book.is_on(book.enter_setting(later, "2" * 64))
    assert not book.is_on(book.enter_setting(later.model_copy(update={"enabled": False}), "3" * 64))


def test_a_connector_keeps_its_kind_and_its_changes_follow_one_another() -> None:
    book, first = Book(), declared()
    book.check_setting(first)
    book.enter_setting(first, "1" * 64)
    with pytest.raises(Conflict, match="somebody else"):
        book.check_setting(first)
    with pytest.raises(Refused, match="of kind llm"):
        book.check_setting(first.model_copy(update={"kind": "http", "prior_version": 1}))
