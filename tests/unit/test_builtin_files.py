"""What the built-in model takes words about files and about the product for, in both languages and over several turns."""

from typing import Any

import pytest

from services.agent.builtin.domain import Result, Say, Scene, Use
from services.agent.builtin.intents import INTENTS
from services.agent.builtin.language import language
from services.agent.builtin.rules import decide, understood

EVERYTHING = frozenset(need for each in INTENTS for need in each.needs)
LISTED = Result("list_files", {"files": [{"name": "a.txt"}, {"name": "drafts/b.txt"}, {"name": "c.txt"}]})
MOVED = Result("move_file", {"name": "drafts/a.txt"})
FULL = Result("delete_file", None, trouble="drafts holds 3 files; say that all of it is to go.")

SAID: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("move notes.txt to drafts", "move_file", {"name": "notes.txt", "to": "drafts"}),
    ("please move the file my notes to the folder drafts.", "move_file", {"name": "my notes", "to": "drafts"}),
    ("Verschiebe notizen.txt nach drafts", "move_file", {"name": "notizen.txt", "to": "drafts"}),
    ("Kannst du die Datei „a b.txt“ in den Ordner assets verschieben?", "", {}),
    ("verschieb die Datei uploads/a.txt in den Ordner assets", "move_file", {"name": "uploads/a.txt", "to": "assets"}),
    ("rename drafts/a.txt to b.txt", "move_file", {"name": "drafts/a.txt", "to": "drafts/b.txt"}),
    ("Benenne drafts/a.txt in b.txt um", "move_file", {"name": "drafts/a.txt", "to": "drafts/b.txt"}),
    ("nenne die Datei a.txt um in b.txt", "move_file", {"name": "a.txt", "to": "b.txt"}),
    ("delete the file a.txt", "delete_file", {"name": "a.txt"}),
    ("remove uploads/a b.txt", "delete_file", {"name": "uploads/a b.txt"}),
    ("lösche big (2).bin", "delete_file", {"name": "big (2).bin"}),
    ('"uploads/small.txt"', "read_file", {"name": "uploads/small.txt"}),
    ('"uploads/a b.txt" read it', "read_file", {"name": "uploads/a b.txt"}),
    ("„uploads/a.txt“ fasse das zusammen", "read_file", {"name": "uploads/a.txt"}),
    ('was steht in "uploads/a.txt"?', "read_file", {"name": "uploads/a.txt"}),
    ("read small (2).txt", "read_file", {"name": "small (2).txt"}),
    ("Lösche die Datei Übersicht.pdf!", "delete_file", {"name": "Übersicht.pdf"}),
    ("delete the folder drafts with everything in it", "delete_file", {"name": "drafts", "everything": True}),
    ("lösche den Ordner alt mit allem", "delete_file", {"name": "alt", "everything": True}),
    ("make a folder called invoices", "make_folder", {"name": "invoices"}),
    ("Lege einen neuen Ordner Rechnungen an", "make_folder", {"name": "Rechnungen"}),
    ("what is in uploads?", "list_folder", {"folder": "uploads"}),
    ("show me the folder drafts/old", "list_folder", {"folder": "drafts/old"}),
    ("Was ist im Ordner uploads?", "list_folder", {"folder": "uploads"}),
    ("welche Dateien sind in drafts", "list_folder", {"folder": "drafts"}),
    ("search my files for invoice 7", "search_files", {"words": "invoice 7"}),
    ("which files mention Anna?", "search_files", {"words": "Anna"}),
    ("Suche in meinen Dateien nach Rechnung", "search_files", {"words": "Rechnung"}),
    ("suche Äpfel in meinen Dateien", "search_files", {"words": "Äpfel"}),
    ("search for tea in my files", "search_files", {"words": "tea"}),
    ("in welchen Dateien steht „Anna“?", "search_files", {"words": "Anna"}),
    (
        "summarise “uploads/a long name of a file with many words.txt”",
        "read_file",
        {"name": "uploads/a long name of a file with many words.txt"},
    ),
    ("Fasse „uploads/a b.txt“ zusammen", "read_file", {"name": "uploads/a b.txt"}),
    ("Lies „uploads/a b.txt“ vor", "read_file", {"name": "uploads/a b.txt"}),
    ("how do I upload a file?", "search_docs", {"question": "how do I upload a file?", "lang": "en"}),
    ("Wie lade ich eine Datei hoch?", "search_docs", {"question": "Wie lade ich eine Datei hoch?", "lang": "de"}),
    ("what does the documentation say about cards?", "search_docs", {"question": "cards?", "lang": "en"}),
    ("Wie funktioniert die Schleuse?", "search_docs", {"question": "Wie funktioniert die Schleuse?", "lang": "de"}),
)
THEN: tuple[tuple[Result, str, str, dict[str, Any]], ...] = (
    (LISTED, "delete the second", "delete_file", {"name": "drafts/b.txt"}),
    (LISTED, "lösche die dritte", "delete_file", {"name": "c.txt"}),
    (LISTED, "open the last one", "read_file", {"name": "c.txt"}),
    (LISTED, "move the first to assets", "move_file", {"name": "a.txt", "to": "assets"}),
    (LISTED, "rename the second file to x.txt", "move_file", {"name": "drafts/b.txt", "to": "drafts/x.txt"}),
    (Result("write_file", {"name": "a.txt"}), "move it to drafts", "move_file", {"name": "a.txt", "to": "drafts"}),
    (Result("read_file", {"name": "a.txt"}), "lösche sie", "delete_file", {"name": "a.txt"}),
    (Result("read_file", {"name": "a.txt"}), "benenne sie in b.txt um", "move_file", {"name": "a.txt", "to": "b.txt"}),
    (MOVED, "no, to assets", "move_file", {"name": "drafts/a.txt", "to": "assets/a.txt"}),
    (MOVED, "nein, nach assets", "move_file", {"name": "drafts/a.txt", "to": "assets/a.txt"}),
)


def scene(text: str, *past: Result, before: str = "", results: tuple[Result, ...] = ()) -> Scene:
    return Scene(text, language(text), EVERYTHING, results, before=before, past=past)


@pytest.mark.parametrize(("text", "tool", "given"), [each for each in SAID if each[1]])
def test_what_is_said_of_files_becomes_a_tool(text: str, tool: str, given: dict[str, Any]) -> None:
    step = decide(scene(text))
    assert isinstance(step, Use), step
    assert [(name, dict(what)) for name, what in step.calls] == [(tool, given)]


@pytest.mark.parametrize(("past", "text", "tool", "given"), THEN)
def test_it_and_the_second_are_those_that_were_spoken_of(past: Result, text: str, tool: str, given: dict[str, Any]) -> None:  # fmt: skip
    step = decide(scene(text, past))
    assert isinstance(step, Use), step
    assert [(name, dict(what)) for name, what in step.calls] == [(tool, given)]


@pytest.mark.parametrize("text", ["delete it", "move it to drafts", "lösche sie", "delete the second", "no, to assets"])
def test_without_a_file_before_nothing_is_touched(text: str) -> None:
    for before in ((), (Result("recall", {"lines": []}),)):
        step = decide(scene(text, *before))
        assert isinstance(step, Say) or not {name for name, _ in step.calls} & {"delete_file", "move_file"}


def test_which_of_several_is_asked() -> None:
    step = decide(scene("delete it", LISTED))
    assert isinstance(step, Say) and "Which file" in step.text


@pytest.mark.parametrize("text", ["everything", "yes, everything", "ja, alles"])
def test_a_folder_that_holds_something_goes_when_that_is_said(text: str) -> None:
    step = decide(scene(text, FULL, before=f"That did not work: {FULL.trouble}"))
    assert isinstance(step, Use) and dict(step.calls[0][1]) == {"name": "drafts", "everything": True}


@pytest.mark.parametrize(
    "text", ["a.txt", "how are you?", "delete my data", "wie geht es dir?", "delete the tool weekly"]
)
def test_what_is_not_about_files_is_not_taken_for_it(text: str) -> None:
    found = understood(text)
    assert found is None or found.name not in ("delete_file", "move_file", "search_files")


def test_what_the_documentation_says_is_said_with_its_page() -> None:
    passage = {"page": "docs/en/files.md", "heading": "Uploading files", "text": "Choose files."}
    value = {"passages": [passage], "pages": ["en/files.md"]}
    said = decide(scene("how do I upload a file?", results=(Result("search_docs", value),)))
    assert isinstance(said, Say) and "Choose files." in said.text and "docs/en/files.md" in said.text
    none = decide(scene("how do I fly?", results=(Result("search_docs", {"passages": [], "pages": ["en/files.md"]}),)))
    assert isinstance(none, Say) and "says nothing about that" in none.text
