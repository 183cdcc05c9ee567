"""Between the console and the agent, end to end: what staff share is read as long as they share it; what the agent proposes waits, and its outcome comes back."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, listed, submit
from tests.factories.people import Person
from tests.factories.stack import Failed, Stack
from tests.factories.talking import Talk
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
READABLE = "SELECT count(*) FROM app.shared_records WHERE text LIKE '%{0}%'"


@pytest.fixture(scope="module")
def staff(owner: Person) -> Person:
    return owner.add("admin", "Iris Sharer")


@pytest.fixture(scope="module")
def iris(stack: Stack, staff: Person) -> Talk:
    return Talk.of(stack, staff.handle)


def notes(talk: Talk, conversation: str) -> str:
    messages = talk.get(f"/conversations/{conversation}/messages")
    return "\n".join(each["text"] for each in messages if each["part"] == "note")


def test_a_visitors_words_are_read_once_they_are_shared_and_no_longer(stack: Stack, staff: Person, iris: Talk) -> None:
    mark = uuid4().hex[:8]
    item = submit(stack, f"# Ferry {mark}\n\nIt goes at nine.\n", kind="doc", name=f"ferry-{mark}")
    decide(stack, item)
    until(lambda: Visitor(stack).sees(item), 10)
    Visitor(stack).say(item, f"remember this: the ferry {mark} never goes")
    form = rf'name="signal" value="([0-9a-f-]{{36}})">(?:(?!name="signal")[\s\S])*?{mark}'
    found = until(lambda: re.search(form, staff.page("/sharing").text), 15, "the message can be shared")
    assert found is not None
    signal = found[1]
    assert mark not in iris.say("read the shared records")["reply"], "nobody has shared it yet"
    assert staff.send("/sharing/feedback", "/sharing", signal=signal).status_code == 303
    until(lambda: stack.value("agent", READABLE.format(mark)) == 1, 10, "it reached the agent")
    turn = iris.say("read the shared records")
    assert f"the ferry {mark} never goes" in turn["reply"]
    assert mark not in iris.say("what do you remember about the ferry?")["reply"], "it was read, not followed"
    assert staff.send(f"/sharing/{signal}/take-back", "/sharing").status_code == 303
    until(lambda: stack.value("agent", READABLE.format(mark)) == 0, 10, "it is gone at the agent")
    assert mark not in iris.say("read the shared records")["reply"]


def test_who_may_not_share_sees_no_page_of_it(owner: Person) -> None:
    member = owner.add("member")
    assert member.page("/sharing").status_code == 403
    assert member.send("/sharing", "/me", title="x", text="x", source="staff").status_code == 403
    assert "/sharing" not in member.page("/analytics").text


def test_what_cannot_be_shared_is_refused_with_words(stack: Stack, staff: Person) -> None:
    bad: list[dict[str, Any]] = [
        {"title": "", "text": "x", "source": "staff"},
        {"title": "x", "text": " ", "source": "staff"},
        {"title": "x", "text": "x", "source": "me"},
    ]
    for fields in bad:
        assert staff.send("/sharing", "/sharing", **fields).status_code == 422
    assert staff.send("/sharing", "/sharing", title="x", text="x" * 300_000, source="staff").status_code == 413
    assert staff.send("/sharing/feedback", "/sharing", signal=str(uuid4())).status_code == 404
    assert staff.send(f"/sharing/items/{uuid4()}", "/sharing").status_code == 404
    with pytest.raises(Failed, match="no record"):
        stack.cli("share", "take-back", "nothing")


def test_a_proposal_waits_in_its_persons_name_and_its_outcome_is_told(stack: Stack, staff: Person, iris: Talk) -> None:
    mark = uuid4().hex[:8]
    turn = iris.say(f"propose a page Prices {mark}: From three upwards.")
    assert (turn["state"], turn["tools"]) == ("ok", ["propose_publication"])
    item = Item("", "page", "en", f"prices-{mark}")
    row = until(lambda: next((each for each in stack.items() if each["path"] == item.path), None), 10, "it is in the queue")  # fmt: skip
    assert row is not None
    assert (row["state"], row["submitted_by"]) == ("submitted", "Iris Sharer")
    assert not Visitor(stack).sees(item), "nothing is public by a proposal"
    decided = Item(row["item_id"], "page", "en", item.path)
    decide(stack, decided, "request_changes", reason="which currency?")
    conversation = turn["conversation_id"]
    until(lambda: "which currency?" in notes(iris, conversation), 10, "the reason is told")
    iris.say(f"propose a page Prices {mark}: From three euros upwards.", conversation)
    until(lambda: listed(stack, decided)["revision"] == 2, 10, "the next revision waits")
    decide(stack, decided)
    until(lambda: "is public now" in notes(iris, conversation), 10, "the outcome is told")
    assert Visitor(stack).sees(item, "three euros")


def test_proposals_can_be_switched_off(stack: Stack, iris: Talk) -> None:
    stack.ask("console", "agent.set", name="proposals", value="off", reason="a holiday")
    try:
        mark = uuid4().hex[:8]
        assert "switched" in iris.say(f"propose a page Closed {mark}: Nothing.")["reply"]
        assert not [each for each in stack.items() if mark in each["path"]]
    finally:
        stack.ask("console", "agent.set", name="proposals", value="on", reason="back")


def test_what_is_remembered_lies_in_the_persons_own_folder(stack: Stack, staff: Person, iris: Talk) -> None:
    mark = uuid4().hex[:8]
    iris.say(f"remember this: the code word is {mark}")
    [person] = stack.ask_database("pgadm", "console_db", f"SELECT id FROM app.people WHERE handle = '{staff.handle}'")
    file: Path = stack.layout.workspace / f"user-{person['id']}" / ".memory.md"
    assert re.fullmatch(rf"- \d{{4}}-\d\d-\d\d: the code word is {mark}", file.read_text().splitlines()[-1])
    assert mark in iris.say("what do you remember about the code word?")["reply"]
