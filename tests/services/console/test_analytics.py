"""Figures over time: what visitors did row by row, rolled up by Postgres and by ClickHouse, equal whatever happens between."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from services.console.analytics import store, views
from services.console.analytics.domain import Question, check_engine, check_question
from services.console.analytics.reading import read_question
from services.console.analytics.usecases.rebuild_warehouse import rebuild_warehouse
from services.console.analytics.usecases.roll_up import roll_up
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.analytics.warehouse import Warehouse
from services.console.signals.usecases.record_signals import record_signals
from shared.errors import Refused, Transient
from shared.settings import Settings
from shared.testing.servers import Servers
from tests.services.console.conftest import Desk

SINCE, UNTIL = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
LANGS = ("en", "de", "fr")


def signal(number: int, **more: Any) -> dict[str, Any]:
    at = SINCE + timedelta(minutes=37 * number)
    return {
        "signal_id": str(uuid4()),
        "kind": "vote" if number % 5 == 0 else "view",
        "item_id": str(uuid4()) if number % 3 else None,
        "path": f"/doc/{LANGS[number % 3]}/seite-{number % 7}",
        "visitor": f"{number % 11:016x}",
        "at": at.isoformat(),
        "value": 1 if number % 5 == 0 else 0,
        "referrer": "example.com" if number % 2 else "",
    } | more


async def record(desk: Desk, first: int, count: int) -> None:
    async with desk.db.transaction() as tx:
        assert await record_signals(tx, [[signal(first + each) for each in range(count)]]) == []


@pytest.fixture
async def counted(desk: Desk) -> Desk:
    """A console that has counted nothing yet."""
    async with desk.db.transaction() as tx:
        await store.prepare(tx)
        await tx.raw.execute("TRUNCATE app.interactions, app.interaction_loads, app.rollup_runs, app.warehouse_todo")
    return desk


@pytest.fixture
async def settings(servers: Servers, tmp_path: Path) -> Settings:
    (tmp_path / "run" / "console").mkdir(parents=True)
    return servers.settings("console").model_copy(update={"state": tmp_path})


@pytest.fixture
async def warehouse(settings: Settings) -> AsyncIterator[Warehouse]:
    found = Warehouse(settings)
    if not found.installed:
        pytest.skip("ClickHouse is not installed here: `make analytics`")
    yield found
    await found.stop()


def question(bucket: str = "day", by: str = "none", **more: Any) -> Question:
    return check_question("signals", bucket, by, SINCE, UNTIL, **more)


async def both(desk: Desk, warehouse: Warehouse, settings: Settings, asked: Question) -> Any:
    return await roll_up(desk.db, warehouse, settings, asked, "clickhouse", "a test", "Mara", compare=True)


async def test_every_signal_is_in_the_figures_with_its_language(counted: Desk, settings: Settings) -> None:
    await record(counted, 0, 60)
    answer = await roll_up(counted.db, Warehouse(settings), settings, question("all", "lang"))
    assert answer.matched == 60
    assert {point.key for point in answer.points} == {"", "de", "fr"}
    assert sum(int(point.figures["n"] or 0) for point in answer.points) == 60
    assert (answer.engine, answer.cost.measured, answer.other.measured) == ("postgres", True, False)
    assert answer.other.milliseconds


@pytest.mark.parametrize(
    ("asked", "of"),
    [
        ({"source": "visits"}, "signals, calls, spend"),
        ({"bucket": "century"}, "all, minute, hour"),
        ({"by": "visitor"}, "kind, item, lang"),
        ({"until": SINCE}, "before it ends"),
        ({"kind": "' OR 1=1"}, "view, vote"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(asked: dict[str, Any], of: str) -> None:
    usual: dict[str, Any] = {"source": "signals", "bucket": "day", "by": "none", "since": SINCE, "until": UNTIL}
    with pytest.raises(Refused, match=of):
        check_question(**(usual | asked))


@pytest.mark.parametrize("until", ["0001-01-01T00:00Z", "0001-01-01T00:00+14:00"])
def test_days_before_the_first_day_of_the_calendar_are_refused_in_words(until: str) -> None:
    with pytest.raises(Refused, match="before it ends"):
        read_question({"until": until, "days": 30})


def test_clickhouse_is_asked_only_with_a_reason() -> None:
    assert check_engine("postgres", "") == "postgres"
    with pytest.raises(Refused, match="give a reason"):
        check_engine("clickhouse", "  ")
    assert check_engine("clickhouse", "ten million rows") == "clickhouse"


async def test_a_time_that_no_calendar_of_clickhouse_has_is_counted_at_the_border(counted: Desk) -> None:
    async with counted.db.transaction() as tx:
        await record_signals(tx, [[signal(1, at="0002-01-01T00:00:00Z"), signal(1, at="9998-01-01T00:00:00Z")]])
    rows = await counted.rows("SELECT at FROM app.interactions ORDER BY n")
    assert [row["at"].year for row in rows] == [1970, 2100]


async def test_without_clickhouse_the_answer_says_what_to_do(counted: Desk, settings: Settings) -> None:
    class Nothing(Warehouse):
        installed = False

    await record(counted, 0, 3)
    assert (await roll_up(counted.db, Nothing(settings), settings, question())).matched == 3
    with pytest.raises(Refused, match="make analytics"):
        await roll_up(counted.db, Nothing(settings), settings, question(), "clickhouse", "to see")


@pytest.mark.parametrize("source", ["calls", "spend"])
async def test_calls_and_spend_can_be_asked_too(counted: Desk, settings: Settings, source: str) -> None:
    asked = check_question(source, "day", "none", SINCE, UNTIL)
    assert (await roll_up(counted.db, Warehouse(settings), settings, asked)).matched >= 0


async def test_an_01_a_loader_killed_between_insert_and_note_five_times_leaves_equal_figures(
    counted: Desk, warehouse: Warehouse, settings: Settings
) -> None:
    """The piece comes again each time, with more pieces around it; at once, after a merge and after a rebuild it is counted once."""

    class Killed(Warehouse):
        """Dies when ClickHouse has the rows and nobody has noted it yet."""

        async def ask(self, do: str, body: bytes = b"", **asked: Any) -> dict[str, Any]:
            answer = await warehouse.ask(do, body, **asked)
            if do == "put":
                await warehouse.stop()  # kill -9
                raise Transient("the loader was killed")
            return answer

    for attempt in range(5):
        await record(counted, 100 * attempt, 100)
        with pytest.raises(Transient, match="killed"):
            await sync_warehouse(counted.db, Killed(settings), settings)
    await sync_warehouse(counted.db, warehouse, settings)
    asked = [question("hour", "kind"), question("day"), question("all", "page"), question("week", "referrer")]
    for each in asked:
        answer = await both(counted, warehouse, settings, each)
        assert answer.equal, each
        assert answer.matched == 500
    await warehouse.ask("merge")
    assert all([(await both(counted, warehouse, settings, each)).equal for each in asked])
    assert await rebuild_warehouse(counted.db, warehouse, settings) >= 500
    assert all([(await both(counted, warehouse, settings, each)).equal for each in asked])


async def test_rows_deleted_in_postgres_leave_clickhouse_with_the_next_sync(
    counted: Desk, warehouse: Warehouse, settings: Settings
) -> None:
    """Rule 23, whoever deletes them and how."""
    await record(counted, 0, 200)
    await record(counted, 200, 200)
    await sync_warehouse(counted.db, warehouse, settings)

    async def after(statement: str) -> int:
        async with counted.db.transaction() as tx:
            await tx.raw.execute(statement)
        answer = await both(counted, warehouse, settings, question("day", "kind"))
        assert answer.equal
        return int(answer.matched)

    assert await after("DELETE FROM app.interactions WHERE n % 2 = 0") == 200
    assert await after("UPDATE app.interactions SET value = 1, kind = 'vote' WHERE n % 10 = 1") == 200
    assert await after("DELETE FROM app.interactions WHERE load = (SELECT min(load) FROM app.interactions)") == 100
    assert await after("TRUNCATE app.interactions") == 0
    await record(counted, 0, 10)
    assert (await both(counted, warehouse, settings, question())).matched == 10


@pytest.mark.long
async def test_a_copy_of_before_a_restore_is_told_everything_again(
    counted: Desk, warehouse: Warehouse, settings: Settings
) -> None:
    await record(counted, 0, 50)
    await sync_warehouse(counted.db, warehouse, settings)
    async with counted.db.transaction() as tx:  # the database is of an earlier day: notes and rows are others
        await tx.raw.execute("DELETE FROM app.interactions WHERE n < 20")
        await tx.raw.execute("DELETE FROM app.warehouse_todo")
    restored = settings.model_copy(update={"restored_at": datetime(2026, 11, 30, tzinfo=UTC)})
    answer = await both(counted, warehouse, restored, question())
    assert (answer.equal, answer.matched) == (True, 30)


@pytest.mark.long
async def test_two_consoles_tell_one_copy(counted: Desk, warehouse: Warehouse, settings: Settings) -> None:
    other = Warehouse(settings)
    await record(counted, 0, 300)
    await warehouse.ask("count")
    await asyncio.gather(*(sync_warehouse(counted.db, each, settings) for each in (warehouse, other, warehouse)))
    answer = await both(counted, other, settings, question("hour"))
    assert (answer.equal, answer.matched) == (True, 300)
    assert not other.running
    async with counted.db.reading() as tx:
        assert [run["reason"] for run in await views.newest_runs(tx, 1)] == ["a test"]
