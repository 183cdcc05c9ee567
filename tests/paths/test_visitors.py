"""What visitors write and what share links open: comments behind a person, answers for staff alone, links to one item (rules 20, 25, 29)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from bs4 import BeautifulSoup

from shared.errors import Refused
from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import TOKEN, Visitor, places
from tests.factories.waiting import until
from tests.paths.test_links import GOOD, HOSTILE, faults

pytestmark = pytest.mark.stack
FORM = """---
title: Contact {word}
form:
  name: contact
  thanks: We will answer {word}.
  fields:
    - {{name: email, label: Your address, kind: email, required: true}}
    - {{name: topic, label: Topic, kind: choice, choices: [Invoice, Other]}}
    - {{name: words, label: Words, kind: long, longest: 200}}
---
Write to us, {word}.
"""


@pytest.fixture
def page(stack: Stack, visitor: Visitor) -> Item:
    found = submit(stack, f"# said {uuid4().hex[:8]}\n\nSay something.\n")
    decide(stack, found)
    until(lambda: visitor.sees(found), 10)
    return found


def send(visitor: Visitor, path: str, item: Item, **fields: str) -> Any:
    fields = {"item_id": item.item_id, "token": fields.pop("token", "") or visitor.token(item), **fields}
    return visitor.http.post(path, data=fields, headers={"Origin": visitor.base})


def waiting(stack: Stack, item: Item) -> list[dict[str, Any]]:
    """Comments about an item, as the console holds them."""
    return stack.rows("console", f"SELECT item_id, title, state, by_via FROM app.items WHERE about = '{item.item_id}' ORDER BY queued_at")  # fmt: skip


def approve(stack: Stack, item: Item, n: int = 1) -> list[Item]:
    until(lambda: len(waiting(stack, item)) >= n, 15)
    found = [Item(str(row["item_id"]), "comment", "en", "") for row in waiting(stack, item)]
    for each in found:
        assert decide(stack, each)["refused"] == []
    return found


def test_a_comment_is_seen_by_nobody_before_a_person_approves_it_and_goes_with_its_page(
    stack: Stack, moderator: Person, visitor: Visitor, page: Item
) -> None:
    word = f"word{uuid4().hex[:10]}"
    answer = send(visitor, "/comments", page, name=f"Ann {word}", text=f"I like it. {word}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page.url}#commented")
    assert send(visitor, "/comments", page, name=f"Ann {word}", text=f"I like it. {word}").status_code == 303
    until(lambda: len(waiting(stack, page)) == 1, 15)
    [row] = waiting(stack, page)
    assert (row["title"], row["state"], row["by_via"]) == (f"Ann {word}", "submitted", "visitor")
    assert word not in visitor.get(page.url).text and word not in str(places(visitor))
    shown = moderator.page(f"/queue/{row['item_id']}").text
    assert word in shown and f"/queue/{page.item_id}" in shown
    approve(stack, page)
    until(lambda: word in visitor.get(page.url).text, 10)
    assert len(waiting(stack, page)) == 1, "the same words sent twice are one comment"
    found = visitor.get(f"/search?q={word}").text
    assert word not in str(places(visitor)) and page.url not in found, "a comment is in no list and no search"
    path = stack.value("console", f"SELECT path FROM app.items WHERE item_id = '{row['item_id']}'")
    assert (
        visitor.get(f"/comment/en/{path}").status_code == visitor.get(f"/receipt/{row['item_id']}").status_code == 404
    )
    assert send(visitor, "/comments", page, text="and one more").status_code == 303
    until(lambda: len(waiting(stack, page)) == 2, 15)
    withdraw(stack, page)
    until(lambda: waiting(stack, page)[0]["state"] == "withdrawn", 10)
    late = Item(str(waiting(stack, page)[1]["item_id"]), "comment", "en", "")
    assert "is not public" in decide(stack, late)["refused"][0]["reason"], "no comment on what is gone"
    until(lambda: stack.value("site", f"SELECT count(*) FROM app.entries WHERE item_id = '{row['item_id']}'") == 0, 10)


def test_pb_06_a_comment_has_no_active_link_for_visitors_or_moderators(
    stack: Stack, moderator: Person, visitor: Visitor, page: Item
) -> None:
    text = GOOD + "\n\n" + "\n\n".join(f"{name}: {value}" for name, value in HOSTILE.items())
    assert send(visitor, "/comments", page, name="<b>Mallory</b>", text=text).status_code == 303
    [comment] = approve(stack, page)
    until(lambda: "Mallory" in visitor.get(page.url).text, 10)
    shown = BeautifulSoup(visitor.get(page.url).text, "html.parser").select_one("ol.comments")
    preview = BeautifulSoup(moderator.page(f"/queue/{comment.item_id}/preview").text, "html.parser").body
    for found in (shown, preview):
        assert found is not None and faults(str(found)) == []
        assert not found.find_all(["img", "h2", "h3"]) and not any(tag.has_attr("id") for tag in found.select("li *"))
        assert {"https://example.org/x", "http://example.org"} <= {str(a.get("href")) for a in found.find_all("a")}
        assert all(name in found.get_text(" ") for name in HOSTILE), "the text stays"
    assert shown is not None and "<b>Mallory</b>" in shown.get_text()


def test_what_cannot_be_taken_as_a_comment_is_refused_and_shown_again(
    stack: Stack, visitor: Visitor, page: Item
) -> None:
    token = visitor.token(page)
    long = send(visitor, "/comments", page, token=token, name="x", text="ä" * 4001)
    assert long.status_code == 413 and "ä" * 4001 in long.text, "what was typed is not lost"
    assert send(visitor, "/comments", page, token=token, name="x", text="a" * 1024 * 1024).status_code == 413
    assert send(visitor, "/comments", page, token=token, name="x", text=" \n").status_code == 422
    assert send(visitor, "/comments", page, token=token, name="x" * 81, text="hello").status_code == 422
    assert send(visitor, "/comments", page, token="0" * 32, text="hello").status_code == 403
    unknown = Item(str(uuid4()), "page", "en", "x")
    assert send(visitor, "/comments", unknown, token=token, text="hello").status_code == 404
    sent = [send(visitor, "/comments", page, token=token, text=f"number {n}").status_code for n in range(31)]
    assert sent.count(303) <= 30 and sent[-1] == 429
    closed = submit(stack, f"---\ntitle: closed {uuid4().hex}\ncomments: closed\n---\nNo comments.\n")
    decide(stack, closed)
    until(lambda: visitor.sees(closed), 10)
    assert 'action="/comments"' not in visitor.get(closed.url).text
    assert send(Visitor(stack), "/comments", closed, text="hello").status_code == 403


def test_answers_to_a_form_go_to_staff_and_to_nobody_else(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    word = f"word{uuid4().hex[:10]}"
    item = submit(stack, FORM.format(word=word))
    shown = moderator.page(f"/queue/{item.item_id}").text
    assert "Your address" in shown and f"We will answer {word}." in shown
    decide(stack, item)
    until(lambda: visitor.sees(item, "Your address"), 10)
    bad = send(visitor, "/answers", item, form="contact", f_email="nobody", f_topic="Spam", f_words=f"<i>{word}")
    assert bad.status_code == 422 and "not an e-mail address" in bad.text and f"&lt;i&gt;{word}" in bad.text
    assert send(visitor, "/answers", item, form="other", f_email="a@example.org").status_code == 404
    good = {"form": "contact", "f_email": "ann@example.org", "f_topic": "Invoice", "f_words": f"please <b>{word}</b>"}
    for _ in range(2):  # a double click
        answer = send(visitor, "/answers", item, **good, f_more="left out")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{item.url}#answered")
    sql = f"SELECT answers FROM app.form_answers WHERE item_id = '{item.item_id}'"
    until(lambda: len(stack.rows("console", sql)) == 1, 15)
    assert f"please <b>{word}</b>" in str(stack.rows("console", sql)[0])
    assert "ann@example.org" not in visitor.get(item.url).text + str(places(visitor))


def share(stack: Stack, text: str, until_at: datetime) -> tuple[Item, dict[str, Any], str]:
    """An item for links, the link, and its path on the site."""
    one = {"kind": "page", "lang": "en", "path": f"t-{uuid4().hex[:10]}", "text": text, "audience": "link"}
    [found] = stack.ask("console", "items.submit", items=[one])["items"]
    item = Item(found["item_id"], "page", "en", found["path"])
    assert decide(stack, item)["refused"] == []
    opened = stack.ask("console", "links.open", item=item.item_id, label="The press", until=until_at.isoformat())
    return item, opened["link"], re.sub(r"^https?://[^/]+", "", opened["url"])


def test_a_share_link_opens_one_item_until_it_is_closed_and_tells_nothing_else(stack: Stack, visitor: Visitor) -> None:
    word = f"word{uuid4().hex[:10]}"
    item, link, path = share(stack, f"# shared {word}\n\n{word}\n", datetime.now(UTC) + timedelta(hours=1))
    until(lambda: visitor.get(path).status_code == 200, 10)
    answer = visitor.get(path)
    assert word in answer.text and item.url not in answer.text and 'rel="canonical"' not in answer.text
    assert answer.headers["cache-control"] == "private, no-store" and "etag" not in answer.headers
    assert (answer.headers["referrer-policy"], answer.headers["x-robots-tag"]) == ("no-referrer", "noindex, nofollow")
    wrong, other = visitor.get(f"/l/{'x' * 43}"), visitor.get(f"/{'y' * 45}")
    assert (wrong.status_code, wrong.text) == (other.status_code, other.text) and wrong.status_code == 404
    assert dict(wrong.headers) | {"date": ""} == dict(other.headers) | {"date": ""}
    assert word not in str(places(visitor)) and word not in visitor.get("/de/feed.xml").text
    assert item.url not in visitor.get(f"/search?q={word}").text
    for hidden in (item.url, f"/receipt/{item.item_id}", f"/receipt/{item.item_id}.json"):
        assert visitor.get(hidden).status_code == 404
    assert visitor.get(f"{path}.gif").status_code == 200
    token = TOKEN.search(answer.text)
    assert token is not None
    fields = {"item_id": item.item_id, "token": token[1]}
    vote = visitor.http.post("/signals/vote", data={**fields, "value": "1"}, headers={"Origin": visitor.base})
    assert vote.status_code == 404, "who does not hold the link can say nothing about the item"
    held = {**fields, "value": "1", "link": path.removeprefix("/l/")}
    assert visitor.http.post("/signals/vote", data=held, headers={"Origin": visitor.base}).headers["location"] == f"{path}#voted"  # fmt: skip
    until(lambda: stack.ask("console", "links.list", item=item.item_id)["links"][0]["views"] == 1, 15)
    assert stack.ask("console", "links.close", link=link["link"])["link"]["state"] == "closed"
    until(lambda: visitor.get(path).text == wrong.text, 2)
    assert visitor.get(f"{path}.gif").status_code == 200, "the picture is the same for every token"


@pytest.mark.long
def test_a_share_link_ends_to_the_moment_and_with_its_item(stack: Stack, visitor: Visitor) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=4)
    item, _, path = share(stack, f"# ending {uuid4().hex}\n\nx\n", ends)
    until(lambda: visitor.get(path).status_code == 200 or datetime.now(UTC) > ends, 10)
    later = stack.ask(
        "console", "links.open", item=item.item_id, label="b", until=f"{ends + timedelta(days=9):%Y-%m-%dT%H:%M}"
    )
    other = re.sub(r"^https?://[^/]+", "", later["url"])
    until(lambda: visitor.get(other).status_code == 200, 10)
    until(lambda: visitor.get(path).status_code == 404, 10)
    assert datetime.now(UTC) >= ends
    withdraw(stack, item)
    until(lambda: visitor.get(other).status_code == 404, 2)
    until(lambda: {each["state"] for each in stack.ask("console", "links.list", item=item.item_id)["links"]} <= {"ended", "expired"}, 10)  # fmt: skip


@pytest.mark.long
def test_the_token_of_a_share_link_stands_nowhere(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    item, link, _ = share(stack, f"# secret {uuid4().hex}\n\nx\n", datetime.now(UTC) + timedelta(hours=1))
    shown = f"/queue/{item.item_id}/links"
    until_at = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M}"
    answer = moderator.send(shown, shown, label="Ann", until=until_at)
    found = BeautifulSoup(answer.text, "html.parser").select_one("#fresh-link")
    assert answer.status_code == 200 and found is not None
    token = found.get_text().rpartition("/l/")[2]
    until(lambda: visitor.get(f"/l/{token}").status_code == 200, 10)
    assert token not in moderator.page(shown).text + moderator.page("/links").text
    for service in ("console", "site", "bridge"):
        tables = stack.rows(
            service,
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('app', 'core')",
        )
        for name in [row["name"] for row in tables]:
            held = stack.value(service, f"SELECT count(*) FROM {name} t WHERE strpos(t::text, '{token}') > 0")
            assert held == 0, f"{service} keeps the token in {name}"
    logs = [file for file in (stack.state / "logs").rglob("*") if file.is_file()]
    assert logs and not any(token.encode() in file.read_bytes() for file in logs)
    answer = moderator.send(f"/links/{link['link']}/close", shown)
    assert answer.status_code == 303


def test_only_what_was_approved_for_links_can_be_shared(stack: Stack, page: Item) -> None:
    until_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    with pytest.raises(Refused, match="opens only what was approved with the audience link"):
        stack.ask("console", "links.open", item=page.item_id, label="x", until=until_at)
