"""A clock that is stepped back reorders nothing: order comes from counters, and age from time that no clock change touches."""

import time
from uuid import UUID, uuid4

import pytest

from shared import ids
from tests.factories import events
from tests.factories.bus import publish
from tests.factories.documents import decide, submit
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until


def test_ids_go_on_rising_when_the_clock_is_stepped_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [ids.new_id() for _ in range(100)]
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600 * 10**9)
    after = [ids.new_id() for _ in range(100)]
    together: list[UUID] = before + after
    assert together == sorted(together)
    assert len(set(together)) == 200


@pytest.mark.stack
def test_events_that_claim_to_be_from_yesterday_are_counted_like_others(stack: Stack) -> None:
    path = f"/yesterday/{uuid4().hex}"
    for day in ("2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2021-01-01T00:00:00Z"):
        event = events.views(1, path)
        event["time"] = day
        event["data"]["signals"][0]["at"] = day
        publish(stack, "site", "from.site.signals.recorded", events.raw(event))
    text = f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key = '{path}'"
    until(lambda: stack.value("console", text) == 3, 15)


@pytest.mark.stack
def test_a_revision_follows_by_its_number_not_by_its_time(stack: Stack, visitor: Visitor) -> None:
    """The times in the database are set forward a day: what comes next, with an earlier time, still follows."""
    item = submit(stack, "# Clock\n\nfirst\n")
    decide(stack, item)
    until(lambda: visitor.sees(item, "first"), 5)
    moved = "UPDATE app.{} SET {} = {} + interval '1 day' WHERE item_id = '{}' RETURNING 1"
    for table, column in (("items", "queued_at"), ("items", "decided_at"), ("items", "live_since")):
        assert stack.rows("console", moved.format(table, column, column, item.item_id))
    submit(stack, "# Clock\n\nsecond\n", name=item.path)
    decide(stack, item)
    until(lambda: visitor.sees(item, "second"), 5)
    assert stack.ask("bridge", "gate.verify")["ok"]
