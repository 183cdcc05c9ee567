"""Which language a message is in, whatever the files in it are called; and what stands in quotes."""

import pytest

from services.agent.builtin.intents.files import unquoted
from services.agent.builtin.language import language


@pytest.mark.parametrize("text", ["erinnere mich in 0 Minuten an Tee", "erinnere mich am 31. April an Tee", "verschiebe a/notes.txt nach a/the.txt", "lade notizen/a.txt herunter"])  # fmt: skip
def test_german_is_answered_in_german(text: str) -> None:
    assert language(text) == "de"


@pytest.mark.parametrize("text", ["remind me in 0 minutes of Tee", "delete notes/der-und-die.md", "move mail@dem.example to x"])  # fmt: skip
def test_english_is_answered_in_english(text: str) -> None:
    assert language(text) == "en"


@pytest.mark.parametrize(("said", "meant"), [('"hello world"', "hello world"), ("„Hallo“", "Hallo"), ('"a" and "b"', '"a" and "b"'), ('say "a"', 'say "a"')])  # fmt: skip
def test_quotes_around_all_of_a_text_are_not_of_it(said: str, meant: str) -> None:
    assert unquoted(said) == meant
