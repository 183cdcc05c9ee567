"""Two instances of every service answer as one: what either of them learns, both show."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.factories.cluster import everywhere
from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.people import Person, become_owner
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
STREAMS = 8
"""Connections of their own: the kernel deals them out to both consoles."""


@pytest.fixture(scope="module")
def boss(cluster: Stack) -> Person:
    return become_owner(cluster)


def published(stack: Stack) -> Item:
    item = submit(stack, "# Seen everywhere\n\nWords.\n")
    decide(stack, item)
    until(lambda: everywhere(stack, item.url), 10, "both instances show it")
    return item


def test_a_withdrawn_item_is_gone_from_both_instances_within_two_seconds(cluster: Stack) -> None:
    item = published(cluster)
    withdraw(cluster, item)
    told = time.monotonic()
    until(lambda: everywhere(cluster, item.url, 410), 10, "both answer 410")
    assert time.monotonic() - told < 2, "withdrawal is complete within 2 s (rule 11)"


class Streams:
    """Open pages of one person, each with a connection of its own."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self.heard: list[list[str]] = [[] for _ in range(STREAMS)]
        self.opened, self.ended = 0, 0
        self._threads = [threading.Thread(target=self._follow, args=(lines,), daemon=True) for lines in self.heard]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        until(lambda: self.opened == STREAMS, 20, "all streams are open")

    def _follow(self, lines: list[str]) -> None:
        cookies = dict(self._person.http.cookies)
        browser = httpx2.Client(base_url=self._person.base, timeout=60, cookies=cookies)
        with browser, browser.stream("GET", "/live") as stream:
            assert stream.status_code == 200
            self.opened += 1
            for line in stream.iter_lines():
                lines.append(line)
        self.ended += 1


@contextmanager
def streams_of(person: Person) -> Iterator[Streams]:
    streams = Streams(person)
    streams.start()
    yield streams


def test_pages_of_both_instances_hear_the_news_and_signing_out_ends_them(cluster: Stack, boss: Person) -> None:
    person = boss.add("moderator")
    with streams_of(person) as streams:
        item = submit(cluster, "# News\n\nFor all pages.\n")
        until(lambda: all(any(item.item_id in line for line in lines) for lines in streams.heard), 10, "all heard")
        person.send("/sign-out", "/me")
        told = time.monotonic()
        until(lambda: streams.ended == STREAMS, 10, "all streams are closed")
        assert time.monotonic() - told < 1.5, "signing out closes open streams within 1 s (S8)"


def test_a_visitor_s_signals_are_counted_together(cluster: Stack) -> None:
    item, agent = published(cluster), "one visitor of a cluster"
    token = Visitor(cluster, agent).token(item)
    answers = []
    for _ in range(40):
        visitor = Visitor(cluster, agent)  # a new connection each
        answers.append(visitor.vote(item, 1, token).status_code)
        visitor.http.close()
    assert 30 <= sum(each != 429 for each in answers) <= 32, answers
