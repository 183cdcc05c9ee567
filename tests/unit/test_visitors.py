"""What visitors may write, and which share links are open: the rules without a system around them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from schemas.content import Form, FormField, ItemContent
from schemas.model import Audience
from schemas.site.v1 import CommentSubmitted
from schemas.statements import LinkChange
from schemas.text import sha256
from services.bridge.judging import Link as Known
from services.bridge.judging import judge_link
from services.bridge.usecases.check_comment import fault_of
from services.site.answers.domain import answer_id, read_answers
from services.site.comments.domain import make_comment, place_of
from services.site.publication.chain import Link, LogState, enter
from services.site.publication.links import Links
from shared.errors import Refused, TooLarge
from shared.ids import item_id
from shared.markup import parse_source
from tests.services.site.gatework import Gatework
from tests.services.site.gatework import link as link_of

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ABOUT = UUID("11111111-1111-5111-8111-111111111111")


def change(action: str = "open", **other: object) -> LinkChange:
    fields = {"key_id": "k", "link_id": uuid4(), "item_id": ABOUT, "action": action, "token_hash": sha256(b"token")}
    times = {"expires_at": AT + timedelta(days=1), "decided_at": AT, "decider": sha256(b"x"), "prior_version": 0}
    return LinkChange.model_validate({**fields, **times, **other})


OPEN = {"publication_mode": "review", "four_eyes": "off"}
LINK = Known(ABOUT, sha256(b"token"), AT + timedelta(days=1), 1)


@pytest.mark.parametrize(
    ("said", "link", "audience", "switches", "code"),
    [
        (change(), None, "link", OPEN, None),
        (change(), None, None, OPEN, "conflict"),
        (change(), None, "public", OPEN, "invalid"),
        (change(), None, "link", OPEN | {"publication_mode": "frozen"}, "frozen"),
        (change(), LINK, "link", OPEN, "conflict"),
        (change(expires_at=AT), None, "link", OPEN, "invalid"),
        (change(expires_at=AT + timedelta(days=400)), None, "link", OPEN, "invalid"),
        (change("close", prior_version=1), LINK, None, OPEN | {"publication_mode": "frozen"}, None),
        (change("close", prior_version=1), None, "link", OPEN, "invalid"),
        (change("close", prior_version=1, token_hash=sha256(b"other")), LINK, "link", OPEN, "invalid"),
        (change("close", prior_version=2), LINK, "link", OPEN, "conflict"),
    ],
)
def test_a_share_link_is_opened_once_to_what_is_published_for_links_and_closed_once(
    said: LinkChange, link: Known | None, audience: Audience | None, switches: dict[str, str], code: str | None
) -> None:
    refusal = judge_link(said, link, audience, switches, AT)
    assert (refusal.code if refusal else None) == code


def test_links_follow_the_log_and_a_withdrawal_closes_them() -> None:
    gatework, links = Gatework(), Links()
    mine, keys = {"key_id": gatework.decider.key_id}, gatework.keys
    state = LogState(keys.ids("decision"))

    def follow(link: Link) -> None:
        nonlocal state
        entered = enter(state, link, keys)
        state = entered.after
        links.note(entered)

    def say(statement: LinkChange) -> None:
        signed = gatework.decider.sign(statement)
        follow(Link(gatework.enter("link", signed, ABOUT), signed))

    first = change(**mine)
    say(first)
    found = links.find("token", AT)
    assert found is not None and found.item_id == ABOUT
    assert links.find("token", first.expires_at) is None, "to the moment"
    assert links.find("Token", AT) is links.find("x" * 10_000, AT) is links.find("\ud800", AT) is None
    say(change("close", link_id=first.link_id, prior_version=1, **mine))
    assert links.find("token", AT) is None
    say(first)
    assert links.find("token", AT) is None, "what was closed is never open again"
    say(change(token_hash=sha256(b"second"), **mine))
    assert links.find("second", AT) is not None
    follow(link_of(gatework.retract(ABOUT)))
    assert links.find("second", AT) is None


def test_a_comment_is_a_name_and_a_text() -> None:
    comment = make_comment(ABOUT, "  Ann\n B ", "ä\r\nb\n")
    assert (comment.title, comment.body, comment.about) == ("Ann B", "ä\nb", ABOUT)
    assert place_of(ABOUT, "v", comment) == place_of(ABOUT, "v", make_comment(ABOUT, "Ann B", "ä\nb"))
    assert place_of(ABOUT, "v", comment) != place_of(ABOUT, "w", comment)
    for name, text, error in [("x", "y" * 4001, TooLarge), ("x" * 81, "y", Refused), ("x\u202e", "y", Refused), ("x", " \n", Refused)]:  # fmt: skip
        with pytest.raises(error):
            make_comment(ABOUT, name, text)


@pytest.mark.parametrize(
    ("path", "content", "fault"),
    [
        (f"{ABOUT}/a", ItemContent(title="x", body="y", about=ABOUT), ""),
        (f"{uuid4()}/a", ItemContent(title="x", body="y", about=ABOUT), "lies under it"),
        (f"{ABOUT}/a", ItemContent(title="x", body="y"), "names the item"),
        (f"{ABOUT}/a", ItemContent(title="x", body="y" * 4001, about=ABOUT), "4000 characters"),
        (f"{ABOUT}/a", ItemContent(title="x" * 81, body="y", about=ABOUT), "80 characters"),
        (f"{ABOUT}/a", ItemContent(title="x", summary="s", body="y", about=ABOUT), "nothing more"),
        (f"{ABOUT}/a", ItemContent(title="x", body="y", about=ABOUT, form=Form(name="f", fields=(FormField(name="a", label="A"),))), "nothing more"),
    ],
)  # fmt: skip
def test_the_lock_looks_at_a_comment_itself(path: str, content: ItemContent, fault: str) -> None:
    raw = content.to_bytes()
    about = {"submission_id": uuid4(), "item_id": item_id("comment", "en", path), "lang": "en", "path": path}
    by = {"id": "v", "name": "v", "via": "visitor"}
    data = CommentSubmitted.model_validate(about | {"content": raw, "content_hash": sha256(raw), "submitted_by": by})
    found = fault_of(data, content)
    assert fault in found and bool(found) == bool(fault)


FIELDS = parse_source(
    "---\ntitle: T\nform:\n  name: f\n  fields:\n"
    "    - {name: mail, label: M, kind: email, required: yes}\n    - {name: n, label: N, kind: number}\n"
    "    - {name: d, label: D, kind: date}\n    - {name: c, label: C, kind: choice, choices: [a, b]}\n"
    "    - {name: t, label: T, kind: tick}\n    - {name: w, label: W, longest: 5}\n---\nx"
).form


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({"f_mail": "a@example.org"}, {}),
        ({}, {"mail": "missing"}),
        ({"f_mail": "a@b"}, {"mail": "no_email"}),
        ({"f_mail": "a@example.org", "f_n": "1,5", "f_d": "2026-02-28", "f_c": "b", "f_t": "on", "f_w": "12345"}, {}),
        (
            {"f_mail": "a@example.org", "f_n": "NaN", "f_d": "2026-02-30", "f_c": "c", "f_w": "123456"},
            {"n": "no_number", "d": "no_date", "c": "no_choice", "w": "too_long"},
        ),
        ({"f_mail": "a@example.org", "f_n": "1e5"}, {"n": "no_number"}),
        ({"f_mail": "a@example.org,b@example.org"}, {"mail": "no_email"}),
    ],
)
def test_answers_are_checked_field_by_field(given: dict[str, str], faults: dict[str, str]) -> None:
    assert FIELDS is not None
    filled = read_answers(FIELDS, given | {"f_more": "x", "other": "y"})
    assert dict(filled.faults) == faults
    assert set(filled.answers) == {"mail", "n", "d", "c", "t", "w"}, "nothing that was not asked for"
    assert answer_id(ABOUT, "v", FIELDS, filled.answers) == answer_id(ABOUT, "v", FIELDS, dict(filled.answers))


@pytest.mark.parametrize(
    "form",
    [
        "x",
        "{name: f, fields: []}",
        "{name: f, fields: [{name: a, label: A, kind: file}]}",
        "{name: f, fields: [{name: a, label: A}, {name: a, label: B}]}",
        "{name: f, fields: [{name: a, label: A, kind: choice}]}",
        "{name: f, fields: [{name: A b, label: A}]}",
        "{name: f, action: 'https://evil.example', fields: [{name: a, label: A}]}",
        "{name: f, fields: [{name: a, label: [[[[[[x]]]]]]}]}",
        "&a {name: f, fields: [*a]}",
    ],
)
def test_a_form_that_is_none_is_refused_with_its_line(form: str) -> None:
    with pytest.raises(Refused, match=r"line 3: the front matter has a form that cannot be read"):
        parse_source(f"---\ntitle: T\nform: {form}\n---\nx")
