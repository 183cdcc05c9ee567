"""What a page says: which language, sentences with values, figures and times."""

from datetime import UTC, date, datetime, timedelta
from typing import Literal

import pytest
from markupsafe import Markup

from services.console.rendering import Voice
from services.console.words import Words, language_of
from services.console.words.catalogue import Catalogue

GERMAN, ENGLISH = Words("de"), Words("en")


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "de-DE,de;q=0.9,en;q=0.8", "de"),
        ("", "fr-FR, fr;q=0.9, de;q=0.5, en;q=0.7", "en"),
        ("", "en;q=0, de-AT;q=0.1", "de"),
        ("", "DE", "de"),
        ("", "fr,*", "en"),
        ("", ";;q=9,,de q=1", "en"),
        ("", "de" * 5000, "en"),
        ("en", "de-DE,de", "en"),
        ("de", "en", "de"),
        ("tlh", "de", "de"),
    ],
)
def test_the_choice_counts_then_what_the_browser_wants_then_english(chosen: str, accepted: str, language: str) -> None:
    assert language_of(chosen, accepted) == language


def test_a_sentence_without_german_is_shown_in_english() -> None:
    assert GERMAN.say("Nobody has put this in any file, {who}.", who="Mara") == "Nobody has put this in any file, Mara."


def test_one_and_many() -> None:
    said = [GERMAN.count("{n} revision", "{n} revisions", n) for n in (1, 2, 12345)]
    assert said == ["1 Fassung", "2 Fassungen", "12.345 Fassungen"]
    assert ENGLISH.count("{n} revision", "{n} revisions", 12345) == "12,345 revisions"


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "A member may not decide on items; that takes one of: owner, admin.",
            "Mit der Rolle Mitglied darf man das nicht: über Beiträge entscheiden. Dazu braucht es eine von: owner, admin.",
        ),
        ("“Prices {old}” is no longer public: its time is over", "„Prices {old}“ ist nicht mehr öffentlich: seine Zeit ist vorbei"),
        ("Mara rejected “a: b”: no: never", "Mara hat „a: b“ abgelehnt: no: never"),
        ("Two\nlines “x” was published as scheduled", "Two\nlines “x” was published as scheduled"),
        ("$12.50 in 24 hours", "12,50 $ in 24 Stunden"),
        ("3 min ago", "vor 3 min"),
    ],
)  # fmt: skip
def test_what_was_said_in_english_with_values_in_it_is_found(english: str, german: str) -> None:
    assert GERMAN.say(english) == german


def test_the_pattern_that_says_more_is_taken() -> None:
    found = Catalogue({"{a} is taken.": "{a} ist vergeben.", "The name {a} is taken.": "Der Name {a} ist vergeben."})
    assert found.told("The name x is taken.") == "Der Name x ist vergeben."
    assert found.told("x is taken.") == "x ist vergeben."


def test_values_are_escaped_and_what_is_invisible_is_shown() -> None:
    voice = Voice(GERMAN)
    assert voice.say("Role of {name}", name="<b>&") == Markup("Rolle von &lt;b&gt;&amp;")
    assert voice.marked("<kbd>j</kbd> and <kbd>k</kbd> move, <kbd>Enter</kbd> opens.").startswith("<kbd>j</kbd> und")
    assert voice.marked("On its way<br>{who}", who="<i>") == "On its way<br>&lt;i&gt;"
    assert "U+202E" in voice.say("gone\u202e.txt <x>") and "<x>" not in voice.say("gone\u202e.txt <x>")


def test_a_value_that_looks_like_a_place_for_one_stays_a_value() -> None:
    assert Voice(ENGLISH).say("{a} and {b}", a="{b}", b="{a}") == "{b} and {a}"
    assert GERMAN.say("Role of {name}", name="{name}") == "Rolle von {name}"


def test_figures_and_times_as_the_language_writes_them() -> None:
    at = datetime(2026, 3, 5, 7, 4, tzinfo=UTC)
    assert (GERMAN.figure(1234567), GERMAN.figure(1234.56, 1)) == ("1.234.567", "1.234,6")
    assert (ENGLISH.figure(1234567), ENGLISH.figure(1234.56, 1)) == ("1,234,567", "1,234.6")
    assert (GERMAN.minute(at), ENGLISH.minute(at)) == ("5. März 2026, 07:04", "5 Mar 2026, 07:04")
    assert (GERMAN.day(date(2026, 12, 1)), ENGLISH.date(date(2026, 12, 1))) == ("1. Dez.", "1 Dec 2026")
    assert [GERMAN.ago(timedelta(seconds=each)) for each in (5, 300, 7200, 200000)] == [
        "jetzt",
        "5 Min.",
        "2 Std.",
        "2 T.",
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_value_may_be_called_as_it_likes(language: Literal["en", "de"]) -> None:
    """Values are named by the message, and no name is taken."""
    words = Words(language)
    values = {"self": "a", "text": "b", "one": "c", "many": "d"}
    message = "{self} {text} {one} {many}"
    assert words.say(message, **values) == str(Voice(words).say(message, **values)) == "a b c d"
    assert Voice(words).marked(message, **values) == "a b c d"
