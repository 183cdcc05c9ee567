"""AU-05 as far as it exists here: a search is for that text, not for a pattern."""

from uuid import uuid4

import pytest

from schemas.connectors.v1 import CallAudited
from services.console.audit import views
from services.console.audit.domain import Search, check_day, check_search
from services.console.audit.usecases.record_calls import record_calls
from shared.clock import now
from shared.errors import Refused
from tests.services.console.conftest import Desk

TARGETS = ("50%_off.example", "50Xaoff.example", "back\\slash.example", "it's.example", "plain.example")


async def test_au_05_search_finds_exactly_the_text(desk: Desk) -> None:
    asker = f"a-{uuid4().hex[:8]}"
    calls = [
        CallAudited(
            entry_id=uuid4(),
            seq=seq,
            at=now(),
            asker=asker,
            connector="web",
            operation="fetch",
            target=target,
            outcome="ok",
        )
        for seq, target in enumerate(TARGETS)
    ]
    async with desk.db.transaction() as tx:
        await record_calls(tx, calls)
        await record_calls(tx, calls[:1])  # again: nothing is doubled
    expected = {"50%_off": [0], "%": [0], "_": [0], "\\": [2], "'": [3], "": [4, 3, 2, 1, 0], "nothing": []}
    async with desk.db.reading() as tx:
        for text, found in expected.items():
            by = Search(q=text, asker=asker)
            assert [row["seq"] for row in await views.list_calls(tx, by)] == found, text
            assert await views.count_calls(tx, by) == len(found), text


def test_au_05_a_long_search_is_refused_with_the_limit() -> None:
    with pytest.raises(Refused, match="at most 500 characters; this one has 10000"):
        check_search("x" * 10_000)
    with pytest.raises(Refused, match="NUL"):
        check_search("a\x00")
    with pytest.raises(Refused, match="is no date"):
        check_day("yesterday")
