"""Mail that came: whatever it holds, it is told, in bounded time, and its headers stay one line (EM-02, rule 19)."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connectors.kinds.mailing.entity import DEEPEST, MOST_PARTS, take_apart
from services.connectors.kinds.mailing.reading import summarise, take_attachment, tell
from services.connectors.kinds.mailing.text import Cleaner
from shared.errors import NotFound, TooLarge

LINES = ("subject", "message_id", "in_reply_to", "references", "date")


def is_flat(text: str) -> bool:
    return len(text.splitlines()) <= 1 and all(
        char.isprintable() or char == "\ufffd" or ord(char) > 0x9F for char in text
    )


@pytest.mark.parametrize("raw", [
    b"Subject: =?utf-8?q?Hi=0D=0ABcc:_other@example.org?=", b"Subject: =?utf-8?b?SGkNCkJjYzogb3RoZXJAZXhhbXBsZS5vcmc=?=",
    b"Subject: =?utf-16be?b?AEgAaQAKAEIAYwBjADoAIABvAHQAaABlAHIAQABlAHgAYQBtAHAAbABlAC4AbwByAGc=?=", b"Subject: Hi\r\n Bcc: other@example.org",
    b"Subject: =?utf-7?q?Hi+AA0ACg-Bcc:_other@example.org?=", b"Subject: =?utf-8?q?Hi=E2=80=A8Bcc:_other@example.org?=",
])  # fmt: skip
def test_em_02_a_subject_that_decodes_to_a_header_is_one_flat_line(raw: bytes) -> None:
    told = tell(raw + b"\r\nFrom: a@example.org\r\n\r\nhello", False)
    assert told["subject"] == "Hi Bcc: other@example.org"
    assert told["cc"] == []


def test_names_in_addresses_are_decoded_after_the_address_was_found() -> None:
    raw = b'From: =?utf-8?q?Boss_=3Cboss@example.org=3E=2C?= <evil@b\xc3\xbccher.example>, "b, c" <d@e.f> (x, <g@h>)\r\n\r\n'
    assert tell(raw, False)["from"] == [
        {"name": "Boss <boss@example.org>,", "address": "evil@bücher.example", "ascii": "evil@xn--bcher-kva.example"},
        {"name": "b, c", "address": "d@e.f"},
    ]


def test_what_is_no_text_is_replaced_and_flagged() -> None:
    told = tell(b"Subject: a\x00b\r\nContent-Type: text/plain; charset=utf-7\r\n\r\nx+2AA-y", False)
    assert (told["text"], told["flagged"]) == ("x\ufffdy", True)
    assert not tell("Subject: ä€\r\n\r\n\u200fשלום \U0001f469\u200d\U0001f467".encode(), False)["flagged"]


def test_other_text_round_trips() -> None:
    text = "tab\there \u202e right to left, \u200d joiner, \U0001f469\u200d\U0001f467, e\u0301"
    assert tell(b"Content-Type: text/plain; charset=utf-8\r\n\r\n" + text.encode(), False)["text"] == text


PARTS = b"""Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/html

<p>HTML</p>
--c
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

gr=FC=DF=
e
--c--
--b
Content-Type: application/pdf; name*=utf-8''%C3%BC%0D%0AX%3A%20y.pdf
Content-Transfer-Encoding: base64

aGVs
bG8=
--b
Content-Disposition: attachment; filename="../../etc/=?utf-8?q?a=2Fb=0A=E2=80=AEfdp.exe?="

raw
--b--
"""


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_text_and_attachments_are_found(end: bytes) -> None:
    raw = PARTS.replace(b"\n", end)
    told = tell(raw, False)
    assert (told["text"], told["text_from"]) == ("grüße", "plain")
    assert [(each["name"], each["type"], each["bytes"]) for each in told["attachments"]] == [
        ("ü X: y.pdf", "application/pdf", 5),
        ("b fdp.exe", "text/plain", 3),
    ]
    assert base64.b64decode(take_attachment(raw, 1, 100)["content"]) == b"hello"
    with pytest.raises(NotFound):
        take_attachment(raw, 3, 100)
    with pytest.raises(TooLarge):
        take_attachment(raw, 1, 4)


def test_html_is_told_without_markup_and_loads_nothing() -> None:
    raw = b"Content-Type: text/html\r\n\r\n<style>x</style><script>alert(1)</script><p>Hi <b>you</b></p><img src=https://t.example/1>&lt;b&gt; a<br>b"
    told = tell(raw, False)
    assert told["text_from"] == "html"
    assert told["text"] == "Hi you\n<b> a\nb"


@pytest.mark.parametrize(("given_name", "shown"), [
    ("..", "x"), ("", "x"), ("...", "x"), ("a/../b", "b"), ("C:\\x\\y.txt", "y.txt"), ("\u202efdp.exe", "fdp.exe"), ("a\r\nb", "a b"),
    ("漢" * 200 + ".pdf", "漢" * 83 + ".pdf"), (" .hidden", ".hidden"), ("u\u0308.txt", "ü.txt"), ("a\x00b", "a\ufffdb"), ("x" * 300, "x" * 255),
])  # fmt: skip
def test_names_of_files_are_safe_to_show_and_to_store(given_name: str, shown: str) -> None:
    assert Cleaner().file_name(given_name, "x") == shown


def nested(levels: int, body: bytes) -> bytes:
    heads = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n) for n in range(levels))
    return heads + body


BOMBS = {
    "nested": lambda: nested(20_000, b"\r\n\r\n" + b"x\r\n" * 100_000),
    "parts": lambda: b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 200_000,
    "boundaries": lambda: b"Content-Type: multipart/mixed; boundary=-\r\n\r\n" + b"-" * 3_000_000,
    "headers": lambda: b"X: y\r\n" * 500_000,
    "one header": lambda: b"Subject: " + b"=?utf-8?q?=?=" * 200_000,
    "addresses": lambda: b"To: " + b"(" * 1_000_000 + b"a@b" + b"," * 1_000_000 + b"\r\n\r\n",
    "folds": lambda: b"To: a\r\n" + b" b\r\n" * 500_000,
    "parameters": lambda: b"Content-Type: text/plain" + b';a*0="' * 200_000,
    "html": lambda: b"Content-Type: text/html\r\n\r\n" + b"<div>" * 500_000 + b"&" * 500_000,
    "quoted": lambda: b"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + b"=" * 3_000_000,
    "blank": lambda: b"Content-Type: text/html\r\n\r\n" + b"\n \t" * 300_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_message_takes_long(bomb: str) -> None:
    raw = BOMBS[bomb]()
    begun = time.process_time()
    tell(raw, False)
    summarise(raw)
    assert time.process_time() - begun < 2, bomb


def test_depth_and_number_of_parts_have_limits() -> None:
    found, depth = take_apart(nested(50, b"\r\nx")), 0
    while found.parts:
        found, depth = found.parts[0], depth + 1
    assert depth == DEEPEST
    many = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 1000
    assert len(list(take_apart(many).leaves())) < MOST_PARTS


PIECES = [
    b"Subject: ", b"From: ", b"Date: ", b"To: ", b"Content-Type: multipart/mixed; boundary=b", b"Content-Type: ", b"text/html", b"text/plain; charset=", b"utf-8", b"utf-16",
    b"idna", b"punycode", b"zlib", b"unicode_escape", b"x-unknown", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"--b", b"--b--", b"=?", b"?=", b"?q?", b"?b?", b"=?utf-8?q?=0D=0A?=",
    b"=?utf-7?q?+2AA-?=", b"Content-Transfer-Encoding: base64", b"Content-Transfer-Encoding: quoted-printable", b"Content-Disposition: attachment; filename*0*=", b"filename=\"",
    b"utf-8''%", b"<a@b>", b"\"", b"(", b")", b"<", b">", b",", b";", b"=", b"==", b"A", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"Mon, 99 Foo 99999 99:99:99 +9999",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)), max_size=40).map(b"".join))
def test_nothing_in_a_mail_raises(raw: bytes) -> None:
    told = tell(raw, False)
    for name in LINES:
        assert is_flat(told[name]), (name, told[name])
    for name in ("from", "to", "cc", "reply_to"):
        assert all(is_flat(text) for each in told[name] for text in each.values())
    told["text"].encode()
    assert "\x00" not in told["text"]
    for each in told["attachments"]:
        assert is_flat(each["name"])
        assert "/" not in each["name"]
        take_attachment(raw, each["number"], 10**6)
