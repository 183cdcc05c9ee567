"""What the lock finds in a text. The checks alone, without the process around them."""

import time
from typing import Any

import pytest

from schemas.bridge.v1 import Finding
from services.bridge.inspection.examine import MOST, examine
from shared.markup import parse_source
from tests.factories.documents import real_input


def findings(body: str, prior: str | None = None, **more: str) -> list[Finding]:
    job: dict[str, Any] = {"title": "t", "summary": "", "body": body, "prior_body": prior, **more}
    return examine(job)


def rules(body: str, prior: str | None = None) -> list[tuple[str, str, int | None]]:
    return [(each.level, each.rule, each.line) for each in findings(body, prior)]


def test_an_ordinary_text_has_no_findings() -> None:
    assert rules("# Title\n\nWords, `code` and a [link](other.md). 3.14, 2024-11-29, 10:30, v1.2.3.\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "text -----BEGIN PRIVATE KEY----- text",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "AGE-SECRET-KEY-1" + "Q" * 58,
        "SU" + "A2BC" * 14,
    ],
)
def test_a_private_key_blocks(line: str) -> None:
    assert ("block", "private_key", 3) in rules(f"# a\n\n{line}\nMIIEowIBAAKCAQEA\n")
    assert ("block", "private_key", 502) in rules("password = 'hunter2hunter2'\n" * 500 + f"\n{line}\n")


SECRETS = [
    'password = "correct-horse-42"',
    "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
    "token: ghp_" + "a1B2" * 9,
    "https://user:s3cr3tpass@host.example.org/",
    'key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY"',
    "API_KEY=9f2c41d07b5e4c3a8d1e",
    "xoxb-123456789012-1234567890123-" + "aB3d" * 6,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_checked_and_never_shown(line: str) -> None:
    found = [each for each in findings(f"first\n{line}\n") if each.rule == "secret"]
    assert found and all((each.level, each.line) == ("check", 2) for each in found)
    for each in found:
        assert len(each.excerpt) <= 5 and each.excerpt.endswith("…")
        assert each.excerpt.removesuffix("…") in line


def test_no_other_finding_shows_a_secret() -> None:
    body = (
        "<iframe onload=\"password='correct-horse-42'\" src='javascript:correct-horse-42'></iframe>\n\n"
        '[x](data:correct-horse-42) [y](https://correct-horse-42.example.net) password = "correct-horse-42" a@correct-horse-42.de'
    )
    found = findings(body)
    assert {each.rule.split(".")[0] for each in found} >= {"active", "secret", "links", "personal"}
    assert not [each for each in found if "horse" in each.message + each.excerpt]


def test_placeholders_are_no_secrets() -> None:
    assert rules('password = "<password>"\npassword = "${PASSWORD}"\npassword = "****"\nsecret: "{{ x }}"\n') == []


def test_a_text_full_of_secrets_is_blocked() -> None:
    assert ("block", "secrets", 201) in rules("".join(f'password = "correct-horse-{n}"\n' for n in range(300)))


@pytest.mark.parametrize(
    ("source", "rule", "line"),
    [
        ("# a\n\n<script>alert(1)</script>\n", "active.element", 3),
        ("a\nb <iframe src=x></iframe>", "active.element", 2),
        ("<div>\n<svg><path/></svg>\n</div>", "active.element", 2),
        ("<object data=x></object>", "active.element", 1),
        ("<form action=x>", "active.element", 1),
        ("<style>a{}</style>", "active.element", 1),
        ("a <b onclick='x()'>b</b>", "active.handler", 1),
        ("> a\n> <img src=x onerror=alert(1)>", "active.handler", 2),
        ("a\nb\n[x](JaVaScRiPt:alert(1))", "active.scheme", 3),
        ("[x](java&Tab;script&colon;alert(1))", "active.scheme", 1),
        ("[x][r]\n\n[r]: vbscript:x", "active.scheme", 1),
        ("![x](data:image/svg+xml,x)", "active.scheme", 1),
        ("<a href='java&#10;script:x'>b</a>", "active.scheme", 1),
        ("<javascript:alert(1)>", "active.scheme", 1),
    ],
)
def test_active_content_is_shown_with_its_line(source: str, rule: str, line: int) -> None:
    assert ("check", rule, line) in rules(source)


def test_code_about_active_content_is_text() -> None:
    assert rules(
        "`<script>` and\n\n```html\n<script>alert(1)</script>\n<b onclick=x>\n```\n\n[a](https://example.org)\n"
    ) == [("note", "links", None)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("write to erika.mustermann@firma.de", "email"),
        ("Tel. +49 30 123456-78", "phone"),
        ("call +1 (415) 555-2671", "phone"),
        ("0171 1234567", "phone"),
        ("030/12345678", "phone"),
        ("DE89 3704 0044 0532 0130 00", "iban"),
        ("GB82WEST12345698765432", "iban"),
        ("4111 1111 1111 1111", "card"),
        ("378282246310005", "card"),
    ],
)
def test_personal_data_is_shown_masked(text: str, rule: str) -> None:
    [found] = findings(f"a\n{text} b\n")
    assert (found.level, found.rule, found.line) == ("check", f"personal.{rule}", 2)
    assert "…" in found.excerpt and found.excerpt not in text


@pytest.mark.parametrize(
    "text",
    [
        "a@example.com b@mail.example.org c@example.de d@x.test @app.get me@localhost",
        "DE89370400440532013001",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "2024-11-29T10:30:00+01:00 and 01.02.2024 and 10.0.0.1:8000 and 0123",
        "7464e520-0dc2-473d-bd34-dbdfd7e85911 0x0012345678",
        "v0.12.3456 port 08080",
    ],
)
def test_what_only_looks_like_personal_data_is_not(text: str) -> None:
    assert rules(text) == []


def test_hidden_characters_are_named() -> None:
    [found] = findings("a\nx \u202eevil\u202c y\n")
    assert (found.level, found.rule, found.line) == ("check", "invisible", 2)
    assert "RIGHT-TO-LEFT OVERRIDE" in found.message and "column 3" in found.message
    assert rules("Donau\u00addampf") == [("note", "invisible", 1)]


def test_findings_hide_nothing_themselves() -> None:
    [shown] = [each for each in findings("a <b onclick='\u202e\u200bx'>b</b>") if each.rule == "active.handler"]
    assert shown.excerpt.isprintable() and "\ufffd" in shown.excerpt


def test_title_and_summary_are_looked_at() -> None:
    found = findings("x", title="a\u200bb", summary='password = "correct-horse-42"')
    assert [(each.rule, each.line) for each in found] == [("invisible", None), ("secret", None)]
    assert found[0].message.startswith("In the title: ") and found[1].message.startswith("In the summary: ")


def test_only_spaces_changed() -> None:
    assert rules("a  b\n\nc", "a b\nc") == [("note", "whitespace_only", None)]
    assert rules("a b", "a b") == rules("a c", "a b") == []


def test_hosts_are_listed_and_new_ones_named() -> None:
    found = findings(
        "[a](https://one.example/x) [b](https://shop.example) [m](mailto:a@b.test)", "[a](https://one.example)"
    )
    assert [(each.level, each.rule) for each in found] == [("note", "links"), ("note", "new_links")]
    assert found[0].message.endswith("one.example, shop.example") and found[1].message.endswith(": shop.example")
    assert "xn--" in findings("[a](https://exаmple.org)")[0].message


def test_many_findings_are_cut_and_the_gravest_stay() -> None:
    found = findings("a\u200b\n" * 500 + "-----BEGIN PRIVATE KEY-----\n")
    assert len(found) == MOST and found[0].level == "block" and found[-1].rule == "more"


def test_of_the_real_pages_four_have_findings_and_all_are_harmless() -> None:
    flagged = set()
    for file in sorted((real_input() / "docs").glob("*/**/*.md")):
        source = parse_source(file.read_text(encoding="utf-8"))
        for each in findings(source.body, title=source.title, summary=source.summary):
            if each.level != "note":
                assert (each.level, each.rule) == ("check", "secret")
                flagged.add(file.relative_to(real_input() / "docs").as_posix())
    pages = ("advanced/security/http-basic-auth.md", "tutorial/extra-models.md")
    assert flagged == {f"{lang}/{page}" for lang in ("de", "en") for page in pages}


SIZE = 64 * 1024
EXPLODING = {
    "keywords": "password" * (SIZE // 8),
    "quoted keywords": ("password" * 11 + "x" * 200 + '"') * (SIZE // 300),
    "assignments": 'password="' * (SIZE // 10),
    "spaces": "password" + " " * SIZE,
    "ats": "a@" * (SIZE // 2),
    "domains": "aa@" + "a." * (SIZE // 2),
    "mailbox": "a." * (SIZE // 2) + "@",
    "digits": "1" * SIZE,
    "spaced digits": "+49 1" + "1 " * (SIZE // 2),
    "accounts": "DE12" + "A1 " * (SIZE // 3),
    "base64": '"' + "aB3/" * (SIZE // 4) + '"',
    "tokens": "eyJa.eyJa." * (SIZE // 10),
    "addresses": "https://a:" * (SIZE // 10),
    "key heads": "-----BEGIN " * (SIZE // 11),
    "handlers": "<p " + "onclick " * (SIZE // 8) + ">",
    "attributes": '<p href="' * (SIZE // 9) + ">",
    "scripts": "<script>" * (SIZE // 8),
    "hidden": "\u200b\n" * (SIZE // 4),
}


@pytest.mark.parametrize("name", EXPLODING)
def test_no_pattern_explodes(name: str) -> None:
    """Four times the text may take some ten times as long, never the fourth power."""
    text = EXPLODING[name]
    small, whole = _seconds(text[: len(text) // 4]), _seconds(text)
    assert whole < 10 and whole < 0.2 + 10 * small


def _seconds(text: str) -> float:
    began = time.process_time()
    findings(text)
    return time.process_time() - began
