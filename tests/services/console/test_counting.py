"""Signals: exact counts, one vote a visitor and item, bad ones left aside."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from services.console.signals import views
from services.console.signals.domain import LONGEST_KEY, item_key
from services.console.signals.usecases.record_signals import BadSignal, record_signals
from tests.services.console.conftest import Desk

AT = "2026-11-29T12:00:00+00:00"


def signal(kind: str = "view", **more: Any) -> dict[str, Any]:
    return {"signal_id": str(uuid4()), "kind": kind, "path": "/x", "visitor": "0123456789abcdef", "at": AT} | more


async def record(desk: Desk, *batches: list[dict[str, Any]]) -> list[BadSignal]:
    async with desk.db.transaction() as tx:
        return await record_signals(tx, batches)


async def totals(desk: Desk) -> dict[str, int]:
    async with desk.db.reading() as tx:
        return await views.totals(tx)


async def test_views_add_up_over_batches_and_events(desk: Desk) -> None:
    before, path = await totals(desk), f"/{uuid4().hex}"
    assert await record(desk, [signal(path=path)] * 3, [signal(path=path)] * 4) == []
    await record(desk, [signal(path=path)])
    assert (await totals(desk))["view"] - before["view"] == 8
    [row] = await desk.rows("SELECT day, n FROM app.signal_counts WHERE item_key = $1", path)
    assert (row["day"].isoformat(), row["n"]) == ("2026-11-29", 8)


async def test_thirty_votes_of_one_visitor_count_once_and_the_last_one_stands(desk: Desk) -> None:
    before, item = await totals(desk), str(uuid4())
    await record(desk, [signal("vote", item_id=item, value=1)] * 30)
    assert (await totals(desk))["vote"] - before["vote"] == 1
    later = "2026-11-29T12:00:01+00:00"
    await record(desk, [signal("vote", item_id=item, value=-1, at=later), signal("vote", item_id=item, value=1)])
    async with desk.db.reading() as tx:
        assert await views.votes_of(tx, item) == {"up": 0, "down": 1}
    await record(desk, [signal("vote", item_id=item, value=0, at="2026-11-29T12:00:02+00:00")])
    assert await totals(desk) == before


async def test_reactions_count_once_per_visitor_and_kind(desk: Desk) -> None:
    before, item = await totals(desk), str(uuid4())
    await record(
        desk,
        [signal("reaction", item_id=item, reaction="thanks")] * 2
        + [signal("reaction", item_id=item, reaction="clear")],
    )
    assert (await totals(desk))["reaction"] - before["reaction"] == 2


async def test_a_message_is_kept_word_for_word(desk: Desk) -> None:
    item, text = str(uuid4()), '<script>alert(1)</script>\n{{ 7*7 }} \u202e "quoted" \U0001f600'
    await record(desk, [signal("feedback", item_id=item, text=text)])
    async with desk.db.reading() as tx:
        [row] = await views.messages(tx, item)
    assert row["text"] == text


async def test_a_bad_signal_is_left_aside_with_its_reason_and_the_others_count(desk: Desk) -> None:
    before = await totals(desk)
    bad = [
        signal(visitor="10.0.0.1"),
        signal(kind="purchase"),
        signal(extra="field"),
        signal(path="/a\x00b"),
        signal(at="0001-01-01T00:00:00+14:00"),
    ]
    left = await record(desk, [signal(), *bad, signal()], [signal()])
    assert (await totals(desk))["view"] - before["view"] == 3
    assert len(left) == len(bad) and all(each.batch == 0 and each.reason.startswith("a signal's ") for each in left)


def test_a_key_fits_into_an_index_and_differs_for_different_paths() -> None:
    long = "/" + "ü" * 1999
    assert item_key(None, "/short") == "/short"
    assert len(item_key(None, long).encode()) < LONGEST_KEY + 40
    assert item_key(None, long) != item_key(None, long[:-1] + "x")
    one = uuid4()
    assert item_key(one, "/any") == str(one)


async def test_days_are_those_of_utc(desk: Desk) -> None:
    path = f"/{uuid4().hex}"
    await record(desk, [signal(path=path, at="2026-11-30T00:30:00+02:00")])
    async with desk.db.reading() as tx:
        [row] = await views.by_day(tx, path)
    assert row["day"] == datetime(2026, 11, 29, tzinfo=UTC).date()
