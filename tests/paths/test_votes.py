"""PB-08: one vote per visitor and item, whatever the clicks, headers and repeats; excess is refused, not queued."""

from base64 import b64decode
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from tests.factories.bus import publish
from tests.factories.documents import Item, decide, submit
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


@pytest.fixture
def item(stack: Stack, visitor: Visitor) -> Item:
    found = submit(stack, f"# votes {uuid4().hex[:8]}\n\nvote\n")
    decide(stack, found)
    until(lambda: visitor.sees(found), 5)
    return found


def site_rows(stack: Stack, item: Item) -> list[int]:
    rows = stack.rows("site", f"SELECT value FROM app.votes WHERE item_id = '{item.item_id}'")
    return [row["value"] for row in rows]


def console_rows(stack: Stack, item: Item) -> list[int]:
    return [
        row["value"] for row in stack.rows("console", f"SELECT value FROM app.votes WHERE item_key = '{item.item_id}'")
    ]


def test_pb_08_thirty_parallel_clicks_are_one_vote(stack: Stack, visitor: Visitor, item: Item) -> None:
    token = visitor.token(item)
    with ThreadPoolExecutor(30) as many:
        answers = list(many.map(lambda _: visitor.vote(item, token=token).status_code, range(30)))
    assert set(answers) <= {200, 303}
    assert site_rows(stack, item) == [1]
    until(lambda: console_rows(stack, item) == [1], 15)
    until(lambda: "· 1<" in visitor.get(item.url).text, 15, "the page's own count")
    raw = stack.value("site", f"SELECT count(*) FROM app.signals WHERE item_id = '{item.item_id}' AND kind = 'vote'")
    assert raw == 30


def test_pb_08_invented_forwarding_headers_are_no_other_visitor(stack: Stack, visitor: Visitor, item: Item) -> None:
    token = visitor.token(item)

    def click(number: int) -> int:
        address = f"203.0.{number // 250}.{number % 250}"
        headers = {
            "X-Forwarded-For": address,
            "Forwarded": f"for={address}",
            "X-Real-IP": address,
            "CF-Connecting-IP": address,
        }
        return visitor.vote(item, token=token, headers=headers).status_code

    with ThreadPoolExecutor(8) as many:
        answers = Counter(many.map(click, range(1000)))
    assert answers[429] == 1000 - 30, answers
    assert site_rows(stack, item) == [1]
    until(lambda: console_rows(stack, item) == [1], 15)


def test_pb_08_undo_and_redo_in_a_loop_end_as_the_last_click(stack: Stack, visitor: Visitor, item: Item) -> None:
    token = visitor.token(item)
    for value in (1, 0, -1, 0, 1, -1, 0, 1) * 3:
        assert visitor.vote(item, value, token).status_code in (200, 303)
    assert site_rows(stack, item) == [1]
    until(lambda: console_rows(stack, item) == [1], 15)
    visitor.vote(item, 0, token)
    assert site_rows(stack, item) == [0]
    until(lambda: console_rows(stack, item) == [0], 15)


def test_pb_08_the_same_signals_redelivered_count_once(stack: Stack, visitor: Visitor, item: Item) -> None:

    visitor.vote(item)
    visitor.view(item)
    until(lambda: console_rows(stack, item) == [1], 15)
    before = stack.settled_totals()
    text = f"""SELECT encode(body, 'base64') AS body, subject FROM app.outbox WHERE name = 'signals.recorded'
               AND position(convert_to('{item.item_id}', 'UTF8') IN body) > 0"""
    for row in stack.rows("site", text):
        for _ in range(3):
            publish(stack, "site", row["subject"], b64decode(row["body"]))
    assert stack.settled_totals() == before


def test_two_visitors_are_two_votes(stack: Stack, item: Item) -> None:
    Visitor(stack).vote(item, 1)
    Visitor(stack).vote(item, -1)
    assert sorted(site_rows(stack, item)) == [-1, 1]
    until(lambda: sorted(console_rows(stack, item)) == [-1, 1], 15)


def test_a_forged_or_missing_token_and_odd_values_are_refused(stack: Stack, visitor: Visitor, item: Item) -> None:
    assert visitor.vote(item, token="0" * 32).status_code == 403
    for value in (2, -2, 100):
        assert visitor.vote(item, value).status_code == 422
    assert visitor.vote(item, headers={"Origin": "http://evil.example"}).status_code == 403
    assert visitor.react(item, "<b>").status_code == 422
    assert visitor.say(item, "x" * 4001).status_code == 413
    assert visitor.say(item, "a\x00b").status_code == 422
    assert site_rows(stack, item) == []


def test_no_address_and_no_user_agent_leaves_the_site(stack: Stack, item: Item) -> None:
    agent = f"Very Special Browser {uuid4().hex}"
    Visitor(stack, agent).vote(item)
    for service, table in (("site", "app.signals"), ("site", "app.outbox"), ("console", "app.votes")):
        held = stack.value(
            service, f"SELECT count(*) FROM {table} t WHERE t::text LIKE '%{agent}%' OR t::text LIKE '%127.0.0.1%'"
        )
        assert held == 0, table


def test_the_picture_answers_alike_for_what_is_not_published(visitor: Visitor, item: Item) -> None:
    known, unknown = visitor.view(item), visitor.get(f"/s/{uuid4()}.gif")
    assert known.status_code == unknown.status_code == 200
    assert known.content == unknown.content
    assert known.headers["cache-control"] == unknown.headers["cache-control"]
    assert "no-store" in known.headers["cache-control"]
