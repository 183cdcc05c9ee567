"""A verdict taken back within ten minutes, and what was approved until a time: from the console to the site and back."""

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, listed, submit, withdraw
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor, places
from tests.factories.waiting import until
from tests.paths.test_api import Program

pytestmark = pytest.mark.stack
TICKED = re.compile(r'name="item" value="([^"]*)"')


def one(stack: Stack, mark: str = "", text: str = "words") -> Item:
    mark = mark or uuid4().hex[:8]
    return submit(stack, f"# Undo {mark}\n\n{text}\n", name=f"undo-{mark}-{uuid4().hex[:6]}")


def together(person: Person, items: list[Item], verdict: str = "approve", **more: str) -> Any:
    """The dialog as it is shown, then the word on all that it ticked."""
    shown = person.http.get("/queue/together", params={"item": [each.item_id for each in items]}).text
    token = re.search(r'name="token" value="([0-9a-f]+)"', shown)
    assert token, shown[-1500:]
    fields: dict[str, Any] = {"token": token[1], "verdict": verdict, **more}
    fields["item"] = [html.unescape(each) for each in TICKED.findall(shown)]
    fields["shown"] = [each.item_id for each in items]
    return person.http.post("/queue/together", data=fields, headers={"Origin": person.base}, follow_redirects=True)


def batch_on(person: Person) -> str:
    found = until(lambda: re.search(r'name="batch" value="([^"]*)"', person.page("/queue").text), 20)
    assert found
    return found[1]


def test_what_was_approved_together_is_undone_together_and_is_gone_everywhere(
    stack: Stack, owner: Person, visitor: Visitor
) -> None:
    person, mark = owner.add("moderator", "Una Undo"), uuid4().hex[:8]
    items = [one(stack, mark) for _ in range(3)]
    dialog = person.http.get("/queue/together", params={"item": [each.item_id for each in items]}).text
    assert "3 items will become public" in dialog
    assert all(each.url in dialog for each in items)
    answer = together(person, items)
    assert "3 approved" in answer.text
    until(lambda: all(visitor.sees(item) for item in items), 20)
    assert "3 items approved" in person.page("/queue").text, "after a reload, too"
    submit(stack, "# Undo\n\nnewer\n", name=items[2].path)
    answer = person.send("/queue/undo", "/queue", batch=batch_on(person), follow=True)
    assert "2 undone, 1 not" in answer.text
    assert "revision 2 came in at" in answer.text
    until(lambda: [visitor.get(item.url).status_code for item in items] == [410, 410, 200], 10)
    until(lambda: not any(items[0].path in text for text in places(visitor).values()), 5)
    rows = [listed(stack, item) for item in items]
    assert [(row["state"], row["revision"], row["published_revision"]) for row in rows] == [
        ("submitted", 1, None),
        ("submitted", 1, None),
        ("submitted", 2, 1),
    ]
    assert look(person, items[0]).decide("approve").status_code == 303, "the same revision, decided anew"
    until(lambda: visitor.sees(items[0]), 20)
    history = person.page(f"/queue/{items[0].item_id}/history").text
    assert "decision undone" in history and "undid the decision" in history


def test_words_on_several_items_with_a_reason_a_time_and_what_moved_on(
    stack: Stack, moderator: Person, second_moderator: Person
) -> None:
    items = [one(stack) for _ in range(2)]
    at = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT%H:%M}"
    shown = together(moderator, items, "look", at=at)
    assert "items will become public at" in shown.text and "Approve and schedule the ticked ones" in shown.text
    assert together(moderator, items, "reject").status_code == 422, "a reason is needed"
    assert "lies in the past" in together(moderator, items, "schedule", at="2020-01-01T08:00").text
    dialog = moderator.http.get("/queue/together", params={"item": [each.item_id for each in items]}).text
    assert look(second_moderator, items[0]).decide("reject", "no").status_code == 303
    until(lambda: listed(stack, items[0])["state"] == "rejected", 10)
    fields: dict[str, Any] = {"token": re.findall(r'name="token" value="([0-9a-f]+)"', dialog)[0], "at": at}
    fields |= {"verdict": "schedule", "item": [html.unescape(each) for each in TICKED.findall(dialog)]}
    answer = moderator.http.post("/queue/together", data=fields, headers={"Origin": moderator.base})
    assert "1 scheduled, 1 not" in answer.text and "Tom Brandt decided this revision" in answer.text
    until(lambda: listed(stack, items[1])["state"] == "scheduled", 10)


def test_undo_by_program_twice_and_too_late(stack: Stack, owner: Person, moderator: Person) -> None:
    mine, others = Program(stack, moderator.api_token("moderator")), Program(stack, owner.api_token("owner"))
    item = one(stack)
    seen = mine.item(item.item_id)
    verdict = mine.decide(seen, publish_at=(datetime.now(UTC) + timedelta(days=3)).isoformat()).json()["statement_hash"]
    until(lambda: mine.item(item.item_id)["state"] == "scheduled", 10)
    where = f"/items/{item.item_id}/undo"
    for _ in range(2):
        answer = mine.http.post(where, json={"statement_hash": verdict, "reason": "a mistake"})
        assert (answer.status_code, answer.json()["outcome"]) == (200, "applied"), answer.text
    found = mine.item(item.item_id)
    assert (found["state"], found["scheduled_revision"], found["publish_at"]) == ("submitted", None, None)
    assert others.http.post(where, json={}).json()["code"] == "undone"
    withdrawn = one(stack)
    decide(stack, withdrawn)
    withdraw(stack, withdrawn)
    assert others.http.post(f"/items/{withdrawn.item_id}/undo", json={}).json()["code"] == "not_undoable"
    old = one(stack)
    answer = mine.decide(mine.item(old.item_id), "reject", reason="no")
    assert answer.status_code == 200, answer.text
    stack.ask_database(
        "pgadm",
        "console_db",
        f"UPDATE app.decisions SET outcome_at = outcome_at - interval '11 minutes' WHERE item_id = '{old.item_id}'",
    )
    answer = mine.http.post(f"/items/{old.item_id}/undo", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_late"), answer.text
    assert mine.http.post(f"/items/{old.item_id}/undo", json={"statement_hash": "0" * 64}).status_code == 404


def test_an_undo_waits_for_a_lock_and_a_bus_that_were_killed(stack: Stack, visitor: Visitor) -> None:
    item = one(stack)
    decide(stack, item)
    until(lambda: visitor.sees(item), 10)
    bridge, bus = stack.kill("bridge"), stack.kill("nats")
    found = stack.ask("console", "items.undo", items=[item.item_id], reason="a mistake")
    stack.back("nats", bus)
    stack.back("bridge", bridge)
    assert found["undone"] == 1 or found["refused"][0]["code"] == "sent", found
    until(lambda: visitor.get(item.url).status_code == 410, 30)
    until(lambda: listed(stack, item)["state"] == "submitted", 10)
    count = f"SELECT count(*) FROM core.gate_log WHERE item_id = '{item.item_id}'"
    assert stack.value("bridge", count) == 2, "published once, withdrawn once"
    again = stack.cli("items", "undo", item.item_id)
    assert (again["undone"], again["refused"]) == (1, []), "undone already, by the same: done"
    assert stack.value("bridge", count) == 2


def test_the_last_call_is_undone_from_the_command_line(stack: Stack, visitor: Visitor) -> None:
    items = [one(stack) for _ in range(2)]
    found = stack.cli("items", "decide", *(item.item_id for item in items), "--verdict", "approve")
    assert found["decided"] == 2
    assert stack.cli("items", "undo", "--last", "--reason", "too early") == {"undone": 2, "refused": []}
    until(lambda: all(visitor.get(item.url).status_code == 410 for item in items), 10)
    assert stack.run("items", "undo").returncode == 2, "nothing was named"


def test_what_is_approved_until_a_time_is_gone_then_also_after_an_outage(stack: Stack, visitor: Visitor) -> None:
    item, until_then = one(stack), datetime.now(UTC) + timedelta(seconds=4)
    found = stack.ask("console", "items.decide", items=[item.item_id], verdict="approve", until=until_then.isoformat())
    assert (found["decided"], datetime.fromisoformat(found["expire_at"])) == (1, until_then), found
    until(lambda: visitor.sees(item), 4)
    old = stack.kill("bridge")
    until(lambda: visitor.get(item.url).status_code == 410, 10, "the site takes it down by itself")
    assert datetime.now(UTC) >= until_then
    stack.back("bridge", old)
    row = until(lambda: (found := listed(stack, item))["state"] == "withdrawn" and found, 20)
    assert (row["published_revision"], row["expire_at"], row["live_revision"]) == (None, None, None)


def test_an_audience_is_handed_in_shown_and_signed(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    mark = uuid4().hex[:8]
    sent = moderator.send("/submit", "/submit", kind="page", lang="en", path=f"in-{mark}", audience="members", markdown=f"# In {mark}\n\nx\n")  # fmt: skip
    assert sent.status_code == 303, sent.text[-1500:]
    row = until(lambda: next((each for each in stack.items() if each["path"] == f"in-{mark}"), None), 10)
    assert row and row["audience"] == "members"
    page = moderator.page(f"/queue/{row['item_id']}").text
    assert "for members" in page
    decide(stack, Item(row["item_id"], "page", "en", f"in-{mark}"))
    assert visitor.get(f"/page/en/in-{mark}").status_code in (403, 404), "not for everybody"
    wrong = moderator.send("/submit", "/submit", kind="page", lang="en", path="x", audience="friends", markdown="# x\n")
    assert (wrong.status_code, "There is no audience" in wrong.text) == (422, True)


def test_notices_and_figures_on_their_pages(stack: Stack, owner: Person, second_moderator: Person) -> None:
    author, mark = owner.add("member", "Nora Notice"), uuid4().hex[:8]
    sent = author.send("/submit", "/submit", kind="page", lang="en", path=f"told-{mark}", markdown=f"# Told {mark}\n\nx\n")  # fmt: skip
    assert sent.status_code == 303, sent.text[-1500:]
    row = until(lambda: next((each for each in stack.items() if each["path"] == f"told-{mark}"), None), 10)
    assert row
    item = Item(row["item_id"], "page", "en", f"told-{mark}")
    assert look(second_moderator, item).decide("reject", "no source").status_code == 303
    until(lambda: "no source" in author.page("/notices").text, 10)
    page = author.page("/notices").text
    assert f"Tom Brandt rejected “Told {mark}”: no source" in page
    assert author.send("/notices/read", "/notices").status_code == 303
    assert "Mark all as read" not in author.page("/notices").text
    assert "Decided" in second_moderator.page("/statistics?days=7").text
    assert second_moderator.page("/statistics?whose=all").status_code == 403
    assert "Tom Brandt" in owner.page("/statistics?whose=all").text
    all_of_it, own = Program(stack, owner.api_token("owner")), Program(stack, second_moderator.api_token("moderator"))
    figures = all_of_it.http.get("/statistics", params={"everybody": "true"}).json()
    assert figures["total"]["reject"] >= 1
    assert own.http.get("/statistics?days=12").status_code == 422
    assert own.http.get("/statistics?everybody=true").status_code == 403
