"""What the lock finds in attachments before anybody sees them (S13, S14)."""

import io
import zipfile
from base64 import b64encode
from typing import Any

import pytest

from services.bridge.inspection.examine import examine
from shared.attachments import media_type
from shared.imaging import made_anew
from tests.factories.pictures import pdf, picture, telling

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\n"


def look(name: str, raw: bytes, **said: Any) -> list[tuple[str, str, str]]:
    about = {"name": name, "media_type": media_type(name), "size": len(raw), "data": b64encode(raw).decode()}
    return [(each.level, each.rule, each.message) for each in examine({"attachment": about | said})]


def levels(found: list[tuple[str, str, str]]) -> set[str]:
    return {level for level, *_ in found}


def document(text: str, extra: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f"<w:document><w:p><w:t>{text}</w:t></w:p></w:document>")
        if extra:
            archive.writestr(extra, b"x")
    return out.getvalue()


def test_a_clean_picture_is_noted_and_one_with_words_in_it_stops() -> None:
    clean = made_anew("image/png", picture()).raw
    assert levels(look("a.png", clean, width=64, height=40)) == {"note"}
    assert levels(look("a.png", clean, width=64, height=41)) == {"block"}
    assert levels(look("a.png", telling("PNG"), width=64, height=40)) == {"block"}


@pytest.mark.parametrize("name", ["k.txt", "k.csv", "k.md", "k.json"])
def test_a_private_key_in_a_text_stops_with_the_place(name: str) -> None:
    found = look(name, f"a\nb\n{KEY}".encode())
    assert any(level == "block" and f"attachment {name}" in message for level, _, message in found)


def test_what_a_document_says_is_looked_at() -> None:
    assert any(rule == "private_key" for _, rule, _ in look("k.pdf", pdf(KEY.replace("\n", " "))))
    assert any(rule == "private_key" for _, rule, _ in look("k.docx", document(KEY)))


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.txt", b"<!DOCTYPE html><script>1</script>"),
        ("a.csv", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
        ("a.txt", b"\xff\xfe\x00a"),
        ("a.txt", b"a\x00b"),
        ("a.pdf", b"%PDF-1.4 no end"),
        ("a.pdf", pdf("x", b"/OpenAction <</S /JavaScript /JS (app.alert(1))>>")),
        ("a.docx", b"PK\x03\x04broken"),
        ("a.docx", document("x", "word/vbaProject.bin")),
        ("a.png", b"<svg/>"),
    ],
)
def test_what_runs_or_is_not_what_its_name_says_stops(name: str, raw: bytes) -> None:
    assert "block" in levels(look(name, raw, width=1, height=1))


def test_what_unfolds_to_more_than_can_be_looked_at_stops() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"x" * 12_000_000)
    assert "block" in levels(look("a.docx", out.getvalue()))


def test_a_size_that_is_stated_wrong_stops() -> None:
    assert "block" in levels(look("a.txt", b"abc", size=4))
