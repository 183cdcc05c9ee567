"""PB-01, PB-03 and the rules of a decision: one wins, the other is told; what was read is what is decided on."""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from shared.operator import call
from tests.factories.bus import publish
from tests.factories.documents import Item, decide, listed, submit, withdraw
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import stays, until

pytestmark = pytest.mark.stack
NAMES = {"moderator": "Mona Moderator", "second_moderator": "Tom Brandt"}


def one(stack: Stack, text: str = "") -> Item:
    return submit(stack, text or f"# d {uuid4().hex[:8]}\n\nwords\n")


def decisions(stack: Stack, item: Item) -> list[dict[str, str]]:
    return stack.rows("bridge", f"SELECT verdict, person_name FROM core.decisions WHERE item_id = '{item.item_id}'")


@pytest.mark.parametrize("verdicts", [("approve", "approve"), ("approve", "reject"), ("reject", "approve")])
def test_pb_01_two_moderators_at_the_same_instant(
    stack: Stack, moderator: Person, second_moderator: Person, visitor: Visitor, verdicts: tuple[str, str]
) -> None:
    item = one(stack)
    pages = [look(moderator, item), look(second_moderator, item)]
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda pair: pair[0].decide(pair[1], "so be it"), zip(pages, verdicts, strict=True)))
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    winner = 0 if answers[0].status_code == 303 else 1
    names = list(NAMES.values())
    assert names[winner] in answers[1 - winner].text, "the second moderator sees who decided"
    final = {"approve": "published", "reject": "rejected"}[verdicts[winner]]
    until(lambda: listed(stack, item)["state"] == final, 10)
    assert [(row["verdict"], row["person_name"]) for row in decisions(stack, item)] == [
        (verdicts[winner], names[winner])
    ]
    assert stack.value("bridge", f"SELECT count(*) FROM core.gate_log WHERE item_id = '{item.item_id}'") == (
        final == "published"
    )
    until(lambda: visitor.sees(item) == (final == "published"), 5)
    assert len([row for row in stack.items() if row["item_id"] == item.item_id]) == 1


def test_pb_01_the_decision_redelivered_changes_nothing(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    item = one(stack)
    page = look(moderator, item)
    assert page.decide("approve").status_code == 303
    until(lambda: visitor.sees(item), 5)
    query = f"SELECT encode(body, 'base64') AS body, subject FROM app.outbox WHERE about = '{item.item_id}' AND name = 'item.decided'"
    [sent] = stack.rows("console", query)
    for _ in range(2):
        publish_again(stack, "console", sent["subject"], sent["body"])
    assert page.decide("approve").status_code in (303, 409), "a double click"
    until(stack.is_drained, 10)
    assert len(decisions(stack, item)) == 1
    assert stack.value("bridge", f"SELECT count(*) FROM core.gate_log WHERE item_id = '{item.item_id}'") == 1
    until(lambda: listed(stack, item)["state"] == "published", 5)


def publish_again(stack: Stack, service: str, subject: str, body: str) -> None:
    """The same bytes with another message id, as after the server's duplicate window."""
    publish(stack, service, subject, b64decode(body))


def test_pb_03_six_small_edits_do_not_reach_the_public_page(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    start = f"# Harmless {uuid4().hex[:6]}\n\nApproved words.\n"
    item = one(stack, start)
    decide(stack, item)
    until(lambda: visitor.sees(item, "Approved words."), 5)
    shop = "[here](https://shop.example.org/buy-now?ref=spam-campaign-1234567890-abcdefghijklmn)"
    pieces = [shop[at : at + 15] for at in range(0, 90, 15)]
    assert len(pieces) == 6
    for upto in range(1, 7):
        submit(stack, start + "".join(pieces[:upto]) + "\n", name=item.path)
        assert visitor.sees(item, "Approved words.")
        assert "shop.example" not in visitor.get(item.url).text
    view = moderator.page(f"/queue/{item.item_id}").text
    assert "shop.example" in view, "the difference is with the last approved revision, not with the previous edit"
    assert listed(stack, item)["revision"] == 7
    decide(stack, item)
    until(lambda: "shop.example" in visitor.get(item.url).text, 5)


def test_a_decision_on_a_revision_that_has_moved_on_is_refused(
    stack: Stack, moderator: Person, visitor: Visitor
) -> None:
    item = one(stack, "# r\n\nfirst words\n")
    page = look(moderator, item)
    submit(stack, "# r\n\nsecond words\n", name=item.path)
    answer = page.decide("approve")
    assert answer.status_code == 409
    assert "evision 2" in answer.text
    assert listed(stack, item)["state"] == "submitted"
    stays(lambda: visitor.get(item.url).status_code == 404, 0.3, "it became public")
    assert decisions(stack, item) == []


@pytest.mark.parametrize("role", ["viewer", "member"])
def test_a_viewer_or_member_cannot_decide(stack: Stack, owner: Person, role: str) -> None:
    item = one(stack)
    fields = look(owner, item).fields
    person = owner.add(role)
    fields["token"] = person.token_on("/me")
    for path, more in (("decide", {"verdict": "approve"}), ("withdraw", {"reason": "x"}), ("claim", {})):
        answer = person.http.post(
            f"/queue/{item.item_id}/{path}", data={**fields, **more}, headers={"Origin": person.base}
        )
        assert answer.status_code == 403, path
    assert person.send("/switches/publication_mode", "/me", value="frozen", reason="x").status_code == 403
    assert person.page("/people").status_code == 403
    assert listed(stack, item)["state"] == "submitted"


def test_nobody_decides_without_the_form_token_or_from_another_site(moderator: Person, stack: Stack) -> None:
    item = one(stack)
    page = look(moderator, item)
    where = f"/queue/{item.item_id}/decide"
    fields = {**page.fields, "verdict": "approve"}
    without = {name: value for name, value in fields.items() if name != "token"}
    assert moderator.http.post(where, data=without, headers={"Origin": moderator.base}).status_code == 403
    for origin in ("http://evil.example", stack.urls["site"], "null"):
        assert moderator.http.post(where, data=fields, headers={"Origin": origin}).status_code == 403
    assert moderator.http.post(where, data=fields, headers={"Host": "evil.example"}).status_code in (400, 403, 421)
    assert listed(stack, item)["state"] == "submitted"


def test_four_eyes_and_the_operator(
    stack: Stack, owner: Person, moderator: Person, second_moderator: Person, visitor: Visitor
) -> None:
    switch(stack, owner, "four_eyes", "on")
    try:
        path = f"eyes-{uuid4().hex[:8]}"
        moderator.send("/submit", "/submit", kind="page", lang="en", path=path, markdown="# Mine\n\nmine\n")
        rows = until(lambda: [row for row in stack.items() if row["path"] == path], 10)
        item = Item(rows[0]["item_id"], "page", "en", path)
        own = look(moderator, item).decide("approve")
        assert own.status_code in (403, 422)
        done = stack.run("items", "decide", item.item_id, "--verdict", "approve", "--json")
        assert "operator" in (done.stdout + done.stderr).lower()
        assert not visitor.sees(item)
        assert look(second_moderator, item).decide("approve").status_code == 303
        until(lambda: visitor.sees(item), 5)
    finally:
        switch(stack, owner, "four_eyes", "off")


def test_frozen_stops_approvals_and_nothing_else(
    stack: Stack, owner: Person, moderator: Person, visitor: Visitor
) -> None:
    public, waiting = one(stack), one(stack)
    decide(stack, public)
    until(lambda: visitor.sees(public), 5)
    switch(stack, owner, "publication_mode", "frozen")
    try:
        assert look(moderator, waiting).decide("approve").status_code in (403, 409, 422)
        assert not visitor.sees(waiting)
        withdraw(stack, public)
        until(lambda: visitor.get(public.url).status_code == 410, 2)
    finally:
        switch(stack, owner, "publication_mode", "review")
    assert look(moderator, waiting).decide("approve").status_code == 303
    until(lambda: visitor.sees(waiting), 5)


def test_site_mode_off_answers_403_to_everybody(stack: Stack, owner: Person, visitor: Visitor) -> None:
    item = one(stack)
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    switch(stack, owner, "site_mode", "off")
    try:
        for path in ("/", item.url, "/feed.xml", "/sitemap.xml", "/search?q=a", f"/s/{item.item_id}.gif"):
            until(lambda path=path: visitor.get(path).status_code == 403, 3, path)
            assert item.path not in visitor.get(path).text
    finally:
        switch(stack, owner, "site_mode", "open")
    until(lambda: visitor.sees(item), 5)


def switch(stack: Stack, owner: Person, name: str, value: str) -> None:
    """Set a switch in the console and wait until the lock has it in force."""
    answer = owner.send(f"/switches/{name}", "/me", value=value, reason="a test needs it")
    assert answer.status_code == 303, answer.text[-1500:]
    query = f"SELECT value FROM app.switches WHERE name = '{name}'"
    until(lambda: [row["value"] for row in stack.rows("console", query)] == [value], 10, f"{name} is {value}")


def test_the_gates_log_verifies(stack: Stack) -> None:
    found = call(stack.state, "bridge", "gate.verify")
    assert found["ok"], found
