"""What the built-in model takes for a wish for a link, in both languages, over several turns."""

import time

import pytest

from services.agent.builtin.domain import Result, Say, Scene, Use
from services.agent.builtin.rules import decide, understood

OFFERED = frozenset({"offer_download", "offer_download_to_anybody", "list_downloads", "revoke_download", "remember", "list_files", "read_file"})  # fmt: skip
BEFORE = "Written to `notes/a b.md`."
LINK = "[a.md](http://127.0.0.2:8422/downloads/0/a.md): you can fetch `a.md` while you are signed in."


def asked(text: str, before: str = "", earlier: tuple[str, ...] = ()) -> tuple[str, dict[str, object]]:
    step = decide(Scene(text, "en", OFFERED, before=before, earlier=earlier))
    assert isinstance(step, Use), (text, step)
    tool, given = step.calls[0]
    return tool, dict(given)


@pytest.mark.parametrize(
    ("text", "tool", "given"),
    [
        ("give me report.pdf as a link", "offer_download", {"name": "report.pdf"}),
        ("Please give me a link to the file drafts/report 2.pdf for a week.", "offer_download", {"name": "drafts/report 2.pdf", "days": 7}),
        ("could you send me a download link for notes.md?", "offer_download", {"name": "notes.md"}),
        ("download notes.md", "offer_download", {"name": "notes.md"}),
        ("give me a link to notes.md for anybody", "offer_download_to_anybody", {"name": "notes.md"}),
        ("make a link to notes.md that works without signing in for 3 days", "offer_download_to_anybody", {"name": "notes.md", "days": 3}),
        ("gib mir bericht.pdf als Link", "offer_download", {"name": "bericht.pdf"}),
        ("Gib mir bitte einen Link zur Datei „Entwurf 2.pdf“ für eine Woche", "offer_download", {"name": "Entwurf 2.pdf", "days": 7}),
        ("erstelle einen Download-Link für notizen.md zum Verschicken", "offer_download_to_anybody", {"name": "notizen.md"}),
        ("lade notizen.md herunter", "offer_download", {"name": "notizen.md"}),
        ("Kannst du mir notizen.md als Link geben?", "offer_download", {"name": "notizen.md"}),
        ("kann ich die Datei notizen.md als Link haben?", "offer_download", {"name": "notizen.md"}),
        ("Can I have a link to notes.md, please?", "offer_download", {"name": "notes.md"}),
        ("I'd like report.pdf as a link", "offer_download", {"name": "report.pdf"}),
        ("show my links", "list_downloads", {}),
        ("welche Download-Links habe ich noch?", "list_downloads", {}),
        ("revoke the link to notes.md", "revoke_download", {"name": "notes.md"}),
        ("nimm den Link zu notizen.md zurück", "revoke_download", {"name": "notizen.md"}),
    ],
)  # fmt: skip
def test_a_wish_for_a_link(text: str, tool: str, given: dict[str, object]) -> None:
    assert asked(text) == (tool, given)


@pytest.mark.parametrize("text", ["give me that file as a link", "Give me a link to it", "gib mir die Datei als Link", "gib mir das als Link", "download it"])  # fmt: skip
def test_that_file_is_the_one_that_was_talked_of(text: str) -> None:
    assert asked(text, BEFORE) == ("offer_download", {"name": "notes/a b.md"})
    assert asked(text, "Done.", ("thanks", "read plan.txt")) == ("offer_download", {"name": "plan.txt"})
    step = decide(Scene(text, "en", OFFERED))
    assert isinstance(step, Say) and "Which file" in step.text


@pytest.mark.parametrize("text", ["give me a link to notes.md every day at 7", "gib mir jeden Morgen um 7 notizen.md als Link", "give me a link to notes.md in 10 minutes"])  # fmt: skip
def test_what_is_to_be_done_later_is_no_link_now(text: str) -> None:
    found = understood(text)
    assert found is None or not found.name.startswith("offer_download")


def test_a_link_is_asked_for_otherwise_in_the_next_turn() -> None:
    assert asked("no, for anybody", LINK) == ("offer_download_to_anybody", {"name": "a.md"})
    assert asked("nein, für alle", LINK) == ("offer_download_to_anybody", {"name": "a.md"})
    assert asked("make it for 5 days", LINK) == ("offer_download", {"name": "a.md", "days": 5})
    assert asked("nein, für eine Woche", LINK) == ("offer_download", {"name": "a.md", "days": 7})
    assert asked("take it back", LINK) == ("revoke_download", {"name": "a.md"})
    assert asked("nimm ihn zurück", LINK) == ("revoke_download", {"name": "a.md"})
    assert isinstance(decide(Scene("for a week", "en", OFFERED)), Say)


def test_the_answer_is_a_link_whose_words_are_a_name() -> None:
    url = "http://127.0.0.2:1/downloads/x/a.md"
    value = {
        "name": "a](http://evil)[.md",
        "url": url,
        "expires_at": "2026-12-01T08:00+00:00",
        "for": "the user, signed in",
    }
    step = decide(Scene("give me a.md as a link", "en", OFFERED, (Result("offer_download", value),)))
    assert isinstance(step, Say) and step.text.startswith("[a (http://evil).md](" + url), step


def test_a_long_message_is_looked_at_quickly() -> None:
    began = time.process_time()
    for text in ("give me " + "a " * 4000, "give me a link to " + "for a " * 3000, "download " + "x" * 9000 + " for"):
        understood(text)
    assert time.process_time() - began < 2
