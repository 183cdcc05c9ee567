"""PB-04: what was withdrawn is gone everywhere, on every path, and no cache brings it back."""

import time
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, listed, submit, withdraw
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor, places
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
WITHIN = 2.0
"""Seconds (rule 11)."""


def by_command(stack: Stack, moderator: Person, items: list[Item]) -> None:
    for item in items:
        assert stack.cli("items", "withdraw", item.item_id, "--reason", "no longer true")["withdrawn"] == 1


def by_page(stack: Stack, moderator: Person, items: list[Item]) -> None:
    for item in items:
        shown = f"/queue/{item.item_id}"
        answer = moderator.send(f"{shown}/withdraw", shown, reason="no longer true")
        assert answer.status_code == 303, answer.text[-1500:]


@pytest.mark.parametrize("way", [by_command, by_page])
def test_pb_04_a_withdrawn_item_is_gone_everywhere(
    stack: Stack, moderator: Person, visitor: Visitor, way: object
) -> None:
    word = f"gone{uuid4().hex[:10]}"
    items = [submit(stack, f"# {word} {n}\n\n{word}\n", name=f"{word}-{n}") for n in range(3)]
    for item in items:
        decide(stack, item)
    until(lambda: all(visitor.sees(item) for item in items), 5)
    until(lambda: all(word in text for text in places(visitor).values()), 5)
    tags = {item.url: visitor.get(item.url).headers["etag"] for item in items}
    way(stack, moderator, items)  # type: ignore[operator]
    began = time.monotonic()
    until(lambda: all(visitor.get(item.url).status_code == 410 for item in items), WITHIN)
    until(lambda: not any(word in text for text in places(visitor).values()), WITHIN)
    found = visitor.get(f"/search?q={word}").text
    assert not any(item.url in found for item in items)
    assert time.monotonic() - began < WITHIN
    for url, tag in tags.items():
        assert visitor.get(url, If_None_Match=tag).status_code == 410
        assert visitor.get(url, If_None_Match="*").status_code == 410
        assert word not in visitor.get(url).text
    until(lambda: all(listed(stack, item)["state"] == "withdrawn" for item in items), 5)


def test_evidence_of_a_withdrawn_item_stays_inside(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    item = submit(stack, f"# kept {uuid4().hex[:8]}\n\nkept\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    withdraw(stack, item)
    until(lambda: visitor.get(item.url).status_code == 410, WITHIN)
    kinds = stack.rows("bridge", f"SELECT kind FROM core.gate_log WHERE item_id = '{item.item_id}' ORDER BY seq")
    assert len(kinds) == 2
    assert moderator.page(f"/queue/{item.item_id}/history").status_code == 200


def test_an_item_that_was_never_public_is_not_found_after_withdrawal_too(stack: Stack, visitor: Visitor) -> None:
    item = submit(stack, f"# secret {uuid4().hex[:8]}\n\nnever\n")
    stack.run("items", "withdraw", item.item_id, "--json")
    assert visitor.get(item.url).status_code == 404


def test_a_withdrawn_item_can_come_back_by_a_new_decision(stack: Stack, visitor: Visitor) -> None:
    word = f"back{uuid4().hex[:8]}"
    item = submit(stack, f"# back\n\n{word}\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    withdraw(stack, item)
    until(lambda: visitor.get(item.url).status_code == 410, WITHIN)
    submit(stack, f"# back\n\n{word} again\n", name=item.path)
    decide(stack, item)
    until(lambda: visitor.sees(item, f"{word} again"), 5)


def test_votes_on_a_withdrawn_item_are_not_taken(stack: Stack, visitor: Visitor) -> None:
    item = submit(stack, f"# votes {uuid4().hex[:8]}\n\nv\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    token = visitor.token(item)
    withdraw(stack, item)
    until(lambda: visitor.get(item.url).status_code == 410, WITHIN)
    assert visitor.vote(item, token=token).status_code in (404, 410, 422)
