"""The lock says nothing to a decision: the page says since when, and after a minute somebody can decide again."""

import os
import signal
from uuid import uuid4

import pytest

from tests.factories.documents import listed, submit
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def test_of_two_decisions_that_waited_for_the_lock_one_counts(
    stack: Stack, moderator: Person, second_moderator: Person, visitor: Visitor
) -> None:
    item = submit(stack, f"# Waiting {uuid4().hex[:6]}\n\nwords\n")
    bridge = stack.pids()["bridge"]
    first, second = look(moderator, item), look(second_moderator, item)
    os.kill(bridge, signal.SIGSTOP)
    try:
        assert first.decide("approve").status_code == 303
        shown = second_moderator.page(f"/queue/{item.item_id}").text
        assert "On its way" in shown and "Mona Moderator, since" in shown
        assert second.decide("reject", "no").status_code == 409
        pass_a_minute(stack, item.item_id)
        assert "no answer from the lock since" in second_moderator.page("/queue?q=" + item.path).text
        shown = second_moderator.page(f"/queue/{item.item_id}").text
        assert "You can decide again" in shown
        assert second.decide("reject", "no").status_code == 303
    finally:
        os.kill(bridge, signal.SIGCONT)
    until(lambda: visitor.sees(item), 20, "the first that reached the lock counts")
    query = f"SELECT outcome FROM app.decisions WHERE item_id = '{item.item_id}' ORDER BY verdict"
    until(lambda: [row["outcome"] for row in stack.rows("console", query)] == ["applied", "refused"], 10)
    row = listed(stack, item)
    assert (row["state"], row["deciding"]) == ("published", False)
    assert "Mona Moderator approved this revision" in moderator.page(f"/queue/{item.item_id}/history").text


def pass_a_minute(stack: Stack, item_id: str) -> None:
    """As if the decision had been made 61 s earlier."""
    for table, column in (("items", "decided_at"), ("decisions", "at")):
        text = f"UPDATE app.{table} SET {column} = {column} - interval '61 s' WHERE item_id = '{item_id}' RETURNING 1"
        assert stack.rows("console", text)
