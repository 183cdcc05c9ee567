"""A console that shows the system to somebody who may not look, in one way or another."""

import asyncio
from uuid import UUID

import pytest

from infra.prove.areas.console_system import SYSTEM_PAGES, check_system
from infra.prove.check import Book, Check
from infra.prove.guests import Guest
from tests.prove.fakes import SOUND_HEADERS, Answer, Reply, front

GUEST = Guest("member", UUID(int=1), "session", "token")
WORDS = "<p>A member may not look into the system; that takes one of: owner, admin.</p>"


def faults(answer: Answer) -> list[Check]:
    book = Book("test")
    with front(answer) as base:
        asyncio.run(check_system(book, base, GUEST, {"Cookie": "console=session"}))
    assert book.checks
    return [check for check in book.checks if check.failed]


def always(status: int, body: str, **headers: str) -> Answer:
    def answer(_: object) -> Reply:
        return status, SOUND_HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}, body

    return answer


HOLES = {
    "the page is shown": (always(200, "core.policies"), "the system is not theirs to look into"),
    "refused without a word": (always(403, "<p>No.</p>"), "told why, and nothing else"),
    "refused, and shown all the same": (always(403, WORDS + "core.policies"), "told why, and nothing else"),
    "kept by others": (always(403, WORDS, Cache_Control="public, max-age=60"), "nobody may keep it"),
}


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_in_the_systems_pages_is_found(hole: str) -> None:
    answer, words = HOLES[hole]
    found = faults(answer)
    assert {check.attempt for check in found} >= {f"{words}: {path}" for path in SYSTEM_PAGES}


def test_a_console_that_refuses_with_words_has_none() -> None:
    assert faults(always(403, WORDS)) == []
