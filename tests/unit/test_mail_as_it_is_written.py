"""Mails as real programs write them: names of character sets that are none or not meant, list footers, several texts, file names by bytes."""

import pytest

from services.connectors.kinds.mailing.reading import tell
from services.connectors.kinds.mailing.words import decode_words

HEAD = b"From: a@example.org\r\nSubject: s\r\n"


def _text(charset: str, body: bytes) -> object:
    return tell(HEAD + f"Content-Type: text/plain; charset={charset}\r\n\r\n".encode() + body, False)["text"]


@pytest.mark.parametrize("name", ["base64", "hex", "rot13", "zlib", "bz2", "uu", "quopri", "idna", "undefined", "mbcs", "x-", "cp"])  # fmt: skip
def test_a_codec_that_is_no_character_set_is_not_used(name: str) -> None:
    assert _text(name, "Grüße".encode()) == "Grüße"
    assert decode_words(f"=?{name}?q?Gr=C3=BC=C3=9Fe?=") == "Grüße"


@pytest.mark.parametrize(
    ("name", "body", "meant"),
    [
        ("iso-8859-1", b"\x93Hi\x94 \x80 5", "“Hi” € 5"),
        ("us-ascii", "Grüße".encode(), "Grüße"),
        ("us-ascii", "Grüße".encode("latin-1"), "Grüße"),
        ("utf-8", "Grüße".encode("latin-1"), "Grüße"),
        ("utf-8", "Grüße ".encode() + b"\xfc", "Grüße \ufffd"),
        ("gb2312", "镕基".encode("gbk"), "镕基"),
        ("shift_jis", "①日本".encode("cp932"), "①日本"),
        ("x-sjis", "日本語".encode("cp932"), "日本語"),
        ("windows-31j", "日本語".encode("cp932"), "日本語"),
        ("windows-874", "สวัสดี".encode("cp874"), "สวัสดี"),
        ("cp-850", "Grüße".encode("cp850"), "Grüße"),
        ("x-mac-roman", "Grüße".encode("mac_roman"), "Grüße"),
        ("iso-8859-8-i", "שלום".encode("iso8859-8"), "שלום"),
        ("iso-2022-jp", "日本語".encode("iso2022_jp"), "日本語"),
    ],
)
def test_a_text_is_read_as_it_was_meant(name: str, body: bytes, meant: str) -> None:
    assert _text(name, body) == meant


@pytest.mark.parametrize("body", [b"aGVsbG8gd29ybGQh\r\n\r\n-- \r\nThe list, with words of its own\r\n", b"aGVsbG8g\r\nd29ybGQh", b"aGVsbG8=\r\nIHdvcmxkIQ==\r\n"])  # fmt: skip
def test_what_stands_behind_base64_does_not_spoil_it(body: bytes) -> None:
    assert tell(HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n" + body, False)["text"] == "hello world!"


def test_no_text_and_no_invitation_of_a_mail_is_left_out() -> None:
    parts = [b"\r\none", b"Content-Type: image/png; name=x.png\r\n\r\nq", b"\r\ntwo", b"Content-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR"]  # fmt: skip
    raw = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + b"\r\n--b\r\n".join(parts) + b"\r\n--b--"
    told = tell(HEAD + raw, False)
    assert told["text"] == "one\ntwo"
    assert [each["type"] for each in told["attachments"]] == ["image/png", "text/calendar"]


@pytest.mark.parametrize("said", [b"filename=\xc3\x9cber.txt", b"filename=\"\xdcber.txt\"", b"filename*=iso-8859-1'de'%DCber.txt; filename=\"old\"", b"filename*=windows-1252''%DCber.txt"])  # fmt: skip
def test_an_attachments_name_is_the_one_that_was_meant(said: bytes) -> None:
    raw = HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Disposition: attachment; " + said
    assert [each["name"] for each in tell(raw + b"\r\n\r\nq\r\n--b--", False)["attachments"]] == ["Über.txt"]
