"""BU-03: the bus goes away while everything is idle, in the middle of a fetch, and for longer while others go on writing."""

import os
import signal
import time
from uuid import uuid4

import pytest

from tests.factories import events
from tests.factories.bus import publish_all
from tests.factories.documents import decide, submit
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import stays, until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]


def views_under(stack: Stack, path: str) -> int:
    return int(
        stack.value("console", f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key = '{path}'")
    )


def ten_events(stack: Stack) -> str:
    path = f"/outage/{uuid4().hex}"
    publish_all(stack, "site", "from.site.signals.recorded", [events.raw(events.views(1, path)) for _ in range(10)])
    return path


def test_bu_03_events_flow_after_the_bus_restarted_while_idle(stack: Stack) -> None:
    pids = {name: pid for name, pid in stack.pids().items() if name not in ("nats", "postgres")}
    stack.back("nats", stack.kill("nats"))
    path = ten_events(stack)
    until(lambda: views_under(stack, path) == 10, 30)
    assert {name: pid for name, pid in stack.pids().items() if name in pids} == pids, "no service was restarted"


def test_bu_03_events_flow_after_a_restart_in_the_middle_of_fetches(stack: Stack) -> None:
    before = ten_events(stack)
    old = stack.kill("nats")
    stack.back("nats", old)
    after = ten_events(stack)
    until(lambda: views_under(stack, before) == 10 and views_under(stack, after) == 10, 30)


def outage(stack: Stack, visitor: Visitor, seconds: float) -> None:
    """The server hangs (as a frozen machine would) while people go on deciding and visitors go on voting."""
    item = submit(stack, f"# outage {uuid4().hex[:8]}\n\nwritten while the bus was away\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    before = stack.settled_totals()
    nats = stack.pids()["nats"]
    os.kill(nats, signal.SIGSTOP)
    try:
        assert visitor.vote(item).status_code in (200, 303), "writes during the outage succeed"
        for _ in range(10):
            assert visitor.view(item).status_code == 200
        began = time.monotonic()
        until(lambda: not stack.green(), 40, "health turns red", 0.3)
        stays(
            lambda: not stack.green(), seconds - (time.monotonic() - began), "health was green while the bus was away"
        )
    finally:
        os.kill(nats, signal.SIGCONT)
    until(stack.green, 30, "health turns green", 0.3)
    wanted = (before["view"] + 10, before["vote"] + 1)
    until(lambda: (totals := stack.totals()) and (totals["view"], totals["vote"]) == wanted, 30, "delivered later", 0.3)


def test_bu_03_writes_during_an_outage_are_delivered_later(stack: Stack, visitor: Visitor) -> None:
    outage(stack, visitor, 8)


@pytest.mark.long
def test_bu_03_thirty_seconds_of_outage(stack: Stack, visitor: Visitor) -> None:
    outage(stack, visitor, 30)


def test_the_site_answers_alone_and_keeps_what_visitors_do(stack: Stack, visitor: Visitor) -> None:
    """Bus, lock, console, agent and connectors all hang, as if each of their machines were frozen."""
    item = submit(stack, f"# Alone {uuid4().hex[:8]}\n\nread while everything else was away\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    before = stack.settled_totals()
    others = [stack.pids()[name] for name in ("nats", "bridge", "console", "agent", "connectors")]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        for path in (item.url, "/", "/feed.xml", "/sitemap.xml", f"/search?q={item.path}"):
            assert visitor.get(path).status_code == 200
        assert visitor.vote(item).status_code in (200, 303)
        for _ in range(5):
            assert visitor.view(item).status_code == 200
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)
    wanted = (before["view"] + 5, before["vote"] + 1)
    until(lambda: (totals := stack.totals()) and (totals["view"], totals["vote"]) == wanted, 30, "delivered later", 0.3)
    until(stack.green, 30, "health turns green", 0.3)
