"""One word on everything that waits and fits a filter, for exactly the list that was shown."""

import re
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.documents import Item, listed, submit
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


def waiting(stack: Stack, mark: str, text: str = "words") -> Item:
    return submit(stack, f"# Mass {mark}\n\n{text}\n", name=f"mass-{mark}-{uuid4().hex[:6]}")


def shown(person: Person, mark: str) -> dict[str, str]:
    page = person.page("/queue/all", q=mark)
    assert page.status_code == 200, page.text[-1500:]
    return dict(HIDDEN.findall(page.text))


def word(person: Person, fields: dict[str, str], verdict: str, **more: Any) -> Any:
    data = {**fields, "verdict": verdict, **more}
    return person.http.post("/queue/all", data=data, headers={"Origin": person.base}, follow_redirects=True)


def test_all_that_fit_become_public_but_what_has_findings(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    mark = uuid4().hex[:8]
    items = [waiting(stack, mark) for _ in range(3)]
    found = waiting(stack, mark, "mail someone.real@wurzbach-kommune.de")
    page = moderator.page("/queue/all", q=mark).text
    assert "3 items will become public" in page and "1 more has findings, and is left out." in page
    assert len(page) < 150_000
    answer = word(moderator, shown(moderator, mark), "approve")
    assert "3 approved" in answer.text
    until(lambda: all(visitor.sees(item) for item in items), 60)
    assert listed(stack, found)["state"] == "submitted"
    assert "Nothing to decide together" in moderator.page("/queue/all", q=mark).text


def test_a_list_that_is_another_one_now_is_shown_again(
    stack: Stack, moderator: Person, second_moderator: Person
) -> None:
    mark = uuid4().hex[:8]
    items = [waiting(stack, mark) for _ in range(2)]
    fields = shown(moderator, mark)
    waiting(stack, mark)
    assert look(second_moderator, items[0]).decide("reject", "no").status_code == 303
    until(lambda: listed(stack, items[0])["state"] == "rejected", 60)
    answer = word(moderator, fields, "reject", reason="spam")
    assert answer.status_code == 409
    assert "Some of these were decided or changed meanwhile." in answer.text and "2 items will become" in answer.text
    assert listed(stack, items[1])["state"] == "submitted", "nothing was decided"


def test_what_came_in_since_is_left_out(stack: Stack, moderator: Person) -> None:
    mark = uuid4().hex[:8]
    item = waiting(stack, mark)
    fields = shown(moderator, mark)
    later = waiting(stack, mark)
    assert "1 rejected" in word(moderator, fields, "reject", reason="spam").text
    until(lambda: listed(stack, item)["state"] == "rejected", 60)
    assert listed(stack, later)["state"] == "submitted"


def test_a_reason_is_needed_and_times_that_nobody_made_are_refused(stack: Stack, moderator: Person) -> None:
    mark = uuid4().hex[:8]
    waiting(stack, mark)
    fields = shown(moderator, mark)
    assert word(moderator, fields, "reject").status_code == 422
    for odd in ("yesterday", "2026-11-30T00:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"):
        assert word(moderator, {**fields, "shown_at": odd}, "approve").status_code == 422
    assert word(moderator, {**fields, "digest": ""}, "approve").status_code == 409
