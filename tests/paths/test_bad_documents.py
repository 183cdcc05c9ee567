"""Bad documents get a clear refusal that names the limit, by every way in, and nothing is half-stored."""

from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from tests.factories.documents import submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack

BAD = {
    "600 KiB": ("# Large\n\n" + "word " * 123_000, "512"),
    "front matter that is no YAML": ("---\ntitle: [unclosed\n---\n\n# x\n", "YAML"),
    "front matter that is a list": ("---\n- a\n- b\n---\n\n# x\n", ""),
    "front matter with a field that may not be shown": (
        "---\ntitle: x\ninternal_note: margin 40%\n---\n\n# x\n",
        "internal_note",
    ),
    "a YAML tag that would run code": ("---\ntitle: !!python/object/apply:os.system ['true']\n---\n\n# x\n", ""),
    "NUL": ("# x\n\na\x00b\n", "NUL"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_document_is_refused_by_the_command(stack: Stack, tmp_path: Path, what: str) -> None:
    text, says = BAD[what]
    name = f"bad-{uuid4().hex[:8]}"
    (tmp_path / f"{name}.md").write_text(text)
    done = stack.run("publish", str(tmp_path / f"{name}.md"), "--kind", "page", "--lang", "en", "--json")
    assert done.returncode in (1, 2), done.stdout
    assert says in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert not [row for row in stack.items() if row["path"] == name]


@pytest.mark.parametrize("what", BAD)
def test_a_bad_document_is_refused_by_the_page_and_stays_in_the_form(stack: Stack, owner: Person, what: str) -> None:
    text, says = BAD[what]
    answer = owner.send("/submit", "/submit", kind="page", lang="en", path=f"bad-{uuid4().hex[:8]}", markdown=text)
    assert answer.status_code in (413, 422), answer.text[-1000:]
    assert says in answer.text


@pytest.mark.parametrize("what", BAD)
def test_a_bad_document_is_refused_by_the_api(owner: Person, what: str) -> None:
    text, says = BAD[what]
    api = httpx2.Client(
        base_url=owner.base, headers={"Authorization": f"Bearer {owner.api_token('member')}"}, timeout=30
    )
    with api:
        item = {"kind": "page", "lang": "en", "path": f"bad-{uuid4().hex[:8]}", "markdown": text}
        answer = api.post("/api/v1/items", json=item)
        assert answer.status_code in (413, 422), answer.text[:1000]
        assert says in answer.text


def test_a_lone_surrogate_is_refused_by_the_api(owner: Person) -> None:
    body = b'{"kind": "page", "lang": "en", "path": "surrogate", "markdown": "# x\\n\\n\\ud800"}'
    headers = {"Authorization": f"Bearer {owner.api_token('member')}", "Content-Type": "application/json"}
    answer = httpx2.post(f"{owner.base}/api/v1/items", content=body, headers=headers, timeout=30)
    assert answer.status_code in (400, 422), answer.text[:500]


def test_a_file_that_is_not_utf_8_is_refused(stack: Stack, tmp_path: Path) -> None:
    path = tmp_path / f"latin-{uuid4().hex[:6]}.md"
    path.write_bytes("# Grüße\n".encode("latin-1"))
    done = stack.run("publish", str(path), "--kind", "page", "--lang", "de", "--json")
    assert done.returncode in (1, 2)
    assert "UTF-8" in done.stderr + done.stdout


@pytest.mark.parametrize(("option", "value"), [("--kind", "secret"), ("--lang", "not a tag"), ("--lang", "")])
def test_unknown_kinds_and_languages_are_refused(stack: Stack, tmp_path: Path, option: str, value: str) -> None:
    path = tmp_path / "x.md"
    path.write_text("# x\n")
    options = {"--kind": "page", "--lang": "en", option: value}
    done = stack.run("publish", str(path), *(part for pair in options.items() for part in pair))
    assert done.returncode in (1, 2), done.stderr
    assert "is not a language tag" in done.stderr or "There is no kind" in done.stderr
    assert "Traceback" not in done.stderr


def test_paths_that_lead_elsewhere_are_refused(owner: Person) -> None:
    for path in ("../up", "a//b", "a b", "a?b", "a#b", "a%2fb", "a\\b", "x" * 301, "\u202ereversed"):
        answer = owner.send("/submit", "/submit", kind="page", lang="en", path=path, markdown="# x\n")
        assert answer.status_code == 422, path


def test_all_of_unicode_round_trips(stack: Stack, owner: Person) -> None:
    odd = "ä ß 𝔘𝔫𝔦 ﷽ e\u0301 \u200d 👩‍👩‍👧 日本語 עברית \ufffd"
    item = submit(stack, f"# Ünïcödé {uuid4().hex[:6]}\n\n{odd}\n", name=f"größe-{uuid4().hex[:6]}")
    body = stack.value(
        "bridge",
        f"SELECT convert_from(content, 'UTF8')::json->>'body' AS b FROM core.revisions WHERE item_id = '{item.item_id}'",
    )
    assert odd in body


def test_a_private_key_stops_at_the_lock_and_cannot_be_approved(stack: Stack) -> None:
    lines = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj" for _ in range(4))
    text = f"# Keys {uuid4().hex[:6]}\n\n```\n-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----\n```\n"
    one = {"kind": "page", "lang": "en", "path": f"keys-{uuid4().hex[:6]}", "text": text}
    [refused] = stack.ask("console", "items.submit", items=[one])["refused"]
    assert "private key" in refused["reason"]
    [row] = [row for row in stack.items() if row["path"] == one["path"]]
    assert row["state"] == "rejected"
    assert stack.ask("console", "items.decide", items=[row["item_id"]], verdict="approve")["decided"] == 0
    assert [again["state"] for again in stack.items() if again["path"] == one["path"]] == ["rejected"]


def test_invisible_characters_are_marked_for_the_reviewer(stack: Stack, owner: Person) -> None:
    item = submit(stack, f"# Bidi {uuid4().hex[:6]}\n\npay \u202ebla\u202c now\n")
    assert "202E" in until(lambda: owner.page(f"/queue/{item.item_id}").text, 5).upper()


def test_a_folder_with_one_bad_file_says_which_and_takes_the_others(stack: Stack, tmp_path: Path) -> None:
    mark = uuid4().hex[:8]
    (tmp_path / f"good-{mark}.md").write_text("# good\n\ng\n")
    (tmp_path / f"bad-{mark}.md").write_text("---\n{ broken\n---\n# b\n")
    done = stack.run("publish", str(tmp_path), "--kind", "page", "--lang", "en", "--json")
    assert f"bad-{mark}" in done.stderr + done.stdout
    assert done.returncode != 0
    assert [row for row in stack.items() if row["path"] == f"good-{mark}"]
