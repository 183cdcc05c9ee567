"""Mail that is written: addresses and headers, as the cases EM-02 and EM-05 want them. Read back by the standard library's parser."""

import base64
import email
import email.policy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.outward import Owner
from services.connectors.kinds.kind import Request
from services.connectors.kinds.mail import KIND
from services.connectors.kinds.mailing.addresses import Address, parse
from services.connectors.kinds.mailing.arguments import _TYPE
from services.connectors.kinds.mailing.compose import File, Message, write
from services.connectors.kinds.mailing.outgoing import draft
from services.connectors.kinds.mailing.words import decode_words, encode_words
from shared.errors import NotFound, Refused

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENDER = "kim@example.org"
BREAKS = ("\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00")


def asking(**arguments: Any) -> Request:
    settings = KIND.settings.model_validate({"hosts": ["smtp.example.org"]})
    owner = Owner(kind="user", id="7")
    return Request("mail", settings, "send", {"to": ["a@example.org"], "text": "hello"} | arguments, owner=owner)


def written(**arguments: Any) -> bytes:
    return write(draft(asking(**arguments), SENDER), "id@example.org", AT, "=_b")


def understood(raw: bytes) -> Any:
    return email.message_from_bytes(raw, policy=email.policy.SMTPUTF8)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("info@bücher.example", "info@xn--bcher-kva.example"),
        ("info@BÜCHER.example.", "info@xn--bcher-kva.example"),
        ("info@bu\u0308cher.example", "info@xn--bcher-kva.example"),
        ('"a,b"@example.com', '"a,b"@example.com'),
        ('"plain"@example.com', "plain@example.com"),
        ('"a\\"b c"@example.com', '"a\\"b c"@example.com'),
        ("änne@example.org", "änne@example.org"),
        ("a+b'c@straße.example", "a+b'c@xn--strae-oqa.example"),
    ],
)
def test_em_05_a_domain_goes_out_in_its_ascii_form_and_a_mailbox_as_it_is(text: str, spec: str) -> None:
    found = parse("to", text)
    assert found.spec == spec
    assert not found.doubtful
    assert found.needs_utf8 == (not spec.isascii())


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "nobody",
            "@example.org",
            "a@",
            "a b@example.org",
            "a@b@example.org",
            "a,b@example.org",
            ".a@example.org",
        ),
        *(
            "a@example..org",
            "a@-x.org",
            "a@x_y.org",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "a@0x7f.1",
            "a@example.org>, <b@x.org",
        ),
        *(
            "a@example.org, b@example.org",
            "Kim <a@example.org>",
            '"a\r\nb"@example.org',
            "a\x00@example.org",
            "\ud800@x.org",
        ),
        *(
            "a" * 65 + "@example.org",
            "a@" + "b" * 64 + ".org",
            "a\u202e@example.org",
            "ａ@example.org",
            "a＠example.org",
        ),
    ],
)
def test_what_is_no_single_address_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse("to", text)


@pytest.mark.parametrize(
    "text",
    ["pay@exаmple.org", "pay@аррӏе.example", "a@ｅxample.org", "a@日本.example", "аnna@example.org", "a@bıg.example"],
)
def test_em_05_what_may_look_like_another_address_is_sent_only_when_its_ascii_form_was_confirmed(text: str) -> None:
    shown = parse("to", text).ascii
    assert shown.isascii()
    with pytest.raises(Refused) as refused:
        draft(asking(to=[text]), SENDER)
    assert refused.value.code == "confirm"
    assert shown in refused.value.message
    assert [each.ascii for each in draft(asking(to=[text], confirmed=[shown]), SENDER).envelope] == [shown]


def test_em_02_the_envelope_is_exactly_what_was_confirmed() -> None:
    people = {
        "to": ["a@example.org"],
        "cc": [{"address": "b@example.org", "name": "B"}],
        "bcc": ["c@example.org", "a@example.org"],
    }
    made = draft(asking(**people, confirmed=["c@example.org", "b@example.org", "a@example.org"]), SENDER)
    assert [each.spec for each in made.envelope] == ["a@example.org", "b@example.org", "c@example.org"]
    assert b"c@example.org" not in write(made, "id@x", AT, "b")
    for confirmed in ([], ["a@example.org"], ["a@example.org", "b@example.org", "c@example.org", "d@example.org"]):
        with pytest.raises(Refused) as refused:
            draft(asking(**people, confirmed=confirmed), SENDER)
        assert refused.value.code == "confirm"


def injected(text: str) -> list[dict[str, Any]]:
    """A text in every field that becomes part of a header."""
    return [
        {"subject": text},
        {"from_name": text},
        {"to": [{"address": "a@example.org", "name": text}]},
        {"to": [f"a@example.org{text}"]},
        {"cc": [f"a{text}@example.org"]},
        {"bcc": [f"a@example.org{text}"]},
        {"reply_to": [f"a@example.org{text}"]},
        {"reply_to": [{"address": "a@example.org", "name": text}]},
        {"in_reply_to": f"<a@b>{text}"},
        {"references": ["<a@b>", f"<c@d>{text}"]},
        {"attachments": [{"name": f"a{text}.pdf", "content": ""}]},
        {"attachments": [{"name": "a.pdf", "type": f"text/plain{text}", "content": ""}]},
    ]


@pytest.mark.parametrize(
    "wrap", ["{}Bcc: other@example.org", "=?utf-8?q?Hi{}Bcc:_other@example.org?=", "{} Bcc: other@example.org"]
)
@pytest.mark.parametrize("char", BREAKS)
def test_em_02_a_line_break_in_any_field_is_refused(wrap: str, char: str) -> None:
    encoded = "".join(f"={raw:02X}" for raw in char.encode())
    text = wrap.format(encoded if wrap.startswith("=?") else char)
    for arguments in injected(text):
        if wrap.startswith("=?") and not decodes(arguments):
            continue
        with pytest.raises(Refused):
            draft(asking(**arguments), SENDER)


def decodes(arguments: dict[str, Any]) -> bool:
    """Fields in which an encoded word is read as what it stands for; elsewhere it is just text, or refused as such."""
    return "subject" in arguments or "from_name" in arguments


@pytest.mark.parametrize("field", ["subject", "from_name"])
def test_em_02_an_encoded_word_is_decoded_once_and_written_anew(field: str) -> None:
    raw = written(**{field: "=?utf-8?b?w6Q=?= and =?utf-8?q?=3D=3Futf-8=3Fq=3Fx=3D0Ay=3F=3D?="})
    found = understood(raw)
    header = found["subject"] if field == "subject" else found["from"].addresses[0].display_name
    assert str(header).startswith("ä and =?utf-8?q?x=0Ay")
    assert raw.count(b"\r\nBcc") == 0


def test_a_reply_to_a_mail_whose_subject_held_a_line_break_has_one_flat_line() -> None:
    flat = "Hi Bcc: other@example.org"  # what reading made of it
    found = understood(written(subject=f"Re: {flat}", in_reply_to="<x@y>", references=["<w@y>", "<x@y>"]))
    assert found["subject"] == f"Re: {flat}"
    assert found["bcc"] is None
    assert found["in-reply-to"] == "<x@y>"


HEADER_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=200)
NAME_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf")), max_size=100)


@given(
    subject=HEADER_TEXT,
    name=NAME_TEXT,
    file=NAME_TEXT,
    text=st.text(st.characters(exclude_categories=("Cs",)), max_size=300),
)
def test_whatever_is_written_has_short_lines_and_only_its_own_headers(
    subject: str, name: str, file: str, text: str
) -> None:
    to = (Address("a", "example.org", name), Address('"a,b"', "example.org", name))
    message = Message(to[0], to, (), (), (), subject, text, files=(File(file or "x", "text/plain", b"z"),))
    raw = write(message, "id@example.org", AT, "=_b")
    assert raw.isascii()
    assert all(len(line) <= 998 and b"\r" not in line and b"\n" not in line for line in raw.split(b"\r\n"))
    head = raw.split(b"\r\n\r\n")[0].replace(b"\r\n ", b" ")
    names = [line.split(b":")[0] for line in head.split(b"\r\n")]
    assert names == [b"Date", b"Message-ID", b"From", b"To", b"Subject", b"MIME-Version", b"Content-Type"]
    assert [each.addr_spec for each in understood(raw)["to"].addresses] == ["a@example.org", '"a,b"@example.org']


@given(HEADER_TEXT)
def test_encoded_words_come_back_as_they_were(text: str) -> None:
    words = encode_words(text)
    assert decode_words("\r\n ".join(words)) == text
    assert all(len(word) <= 75 for word in words)


def test_attachments_and_text_arrive_unchanged() -> None:
    content = bytes(range(256)) * 40
    names = ['Prüf"ung; x=.pdf', "漢" * 80 + ".txt", "plain name.txt"]
    files = [{"name": name, "type": "application/pdf", "content": base64.b64encode(content).decode()} for name in names]
    found = understood(written(text="ä\n.\nFrom here\r\nz", attachments=files))
    body, *parts = found.iter_parts()
    assert body.get_content().splitlines() == ["ä", ".", "From here", "z"]
    assert [each.get_filename() for each in parts] == names
    assert all(each.get_content() == content for each in parts)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "..\\..\\x", "x" * 256, "a\u202efdp.exe"])
def test_an_attachment_is_named_like_a_file(name: str) -> None:
    with pytest.raises(Refused):
        draft(asking(attachments=[{"name": name, "content": ""}]), SENDER)


@pytest.mark.parametrize("given_arguments", [{"unknown": 1}, {"to": "a@example.org"}, {"to": []}, {"text": "a\x00b"}, {"text": "\ud800"}, {"headers": {"X": "y"}},
                                             {"attachments": [{"name": "x", "content": "***"}]}, {"to": [f"a{n}@example.org" for n in range(101)]}])  # fmt: skip
def test_what_is_not_understood_is_refused(given_arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        draft(asking(**given_arguments), SENDER)


def test_guests_have_no_mail() -> None:
    settings = KIND.settings.model_validate({"hosts": ["imap.example.org"]})
    public = {"host": "imap.example.org", "port": "993", "security": "tls", "username": "x"}
    for operation in KIND.operations:
        with pytest.raises(NotFound):
            KIND.plan(Request("mail", settings, operation, {}, owner=Owner(kind="guest", id="7")), [public])


def test_a_plan_names_the_host_and_neither_people_nor_words() -> None:
    public = {"host": "smtp.example.org", "port": "465", "security": "tls", "username": "kim", "sender": SENDER}
    plan = KIND.plan(asking(subject="private"), [public])
    assert (plan.operation, plan.hosts, plan.secret_types) == ("send", ("smtp.example.org:465",), (("smtp",),))
    assert plan.target == "send smtp.example.org:465 to 1"
    with pytest.raises(Refused) as refused:
        KIND.plan(asking(), [public | {"host": "evil.example.org"}])
    assert refused.value.code == "egress"


@given(st.text(max_size=80))
def test_a_type_of_content_holds_nothing_but_a_type(text: str) -> None:
    if _TYPE.fullmatch(text):
        assert text.isascii() and text.isprintable() and ";" not in text and " " not in text
