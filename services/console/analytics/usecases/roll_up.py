"""Answer a question by the engine that was asked for, with what it cost and what the other would have cost."""

import time
from collections.abc import Sequence
from dataclasses import replace

from services.console.analytics import store, views
from services.console.analytics.domain import Answer, Cost, Engine, Point, Question
from services.console.analytics.usecases.sync_warehouse import sync_warehouse
from services.console.analytics.warehouse import ABSENT, Warehouse
from shared.db import Database
from shared.errors import Refused, Transient
from shared.settings import Settings

PATIENCE = "25s"
"""No page waits longer than half a minute (rule 31)."""
PER_UNIT, PER_ROW = 0.012, 0.00008
"""Milliseconds, where nothing was measured yet: for a unit of Postgres' estimate, for a row that ClickHouse reads."""
AT_LEAST, BASE = 8192, 5.0
"""Rows that ClickHouse reads at once, and milliseconds that any question takes."""
Told = tuple[list[Point], int, bool, Cost]


async def roll_up(
    db: Database,
    warehouse: Warehouse,
    settings: Settings,
    question: Question,
    engine: Engine = "postgres",
    reason: str = "",
    by: str = "",
    *,
    compare: bool = False,
) -> Answer:
    """`compare` asks both. Refused when Postgres would take too long, or when there is no ClickHouse."""
    async with db.reading() as tx:
        planned, reads = await views.planned(tx, question)
        rates, held = await views.rates(tx), await views.held(tx, question.source)
    there = min(held, max(reads, AT_LEAST))
    guesses = {
        "postgres": Cost("postgres", reads, planned * (rates.postgres or PER_UNIT), measured=False),
        "clickhouse": Cost("clickhouse", there, BASE + there * (rates.clickhouse or PER_ROW), measured=False),
    }
    if not warehouse.installed:
        guesses["clickhouse"] = replace(guesses["clickhouse"], why=ABSENT)
    asked: Sequence[Engine] = ("postgres", "clickhouse") if compare else (engine,)
    told = {
        each: await (
            _from_clickhouse(db, warehouse, settings, question)
            if each == "clickhouse"
            else _from_postgres(db, question)
        )
        for each in asked
    }
    other: Engine = "postgres" if engine == "clickhouse" else "clickhouse"
    points, matched, more, cost = told[engine]
    async with db.transaction() as tx:
        for each in asked:
            await store.note_run(tx, by, question, told[each][3], reason, planned if each == "postgres" else None)
    equal = told[engine][:3] == told[other][:3] if compare else None
    other_cost = told[other][3] if compare else guesses[other]
    return Answer(question, engine, reason, points, matched, more, cost, other_cost, equal)


async def _from_postgres(db: Database, question: Question) -> Told:
    begun = time.perf_counter()
    try:
        async with db.transaction() as tx:
            await store.limit_time(tx, PATIENCE)
            rows = await views.ask_postgres(tx, question)
    except Transient as error:
        if time.perf_counter() - begun < 20 and "temp_file_limit" not in error.message:
            raise
        raise Refused(
            "Postgres would need more than 25 seconds or more room than it may have for this. Ask for fewer days or larger"
            " buckets, or ask ClickHouse and give that as the reason.",
            code="too_long",
        ) from error
    taken = (time.perf_counter() - begun) * 1000
    points, matched, more = views.points(question, rows)
    return points, matched, more, Cost("postgres", matched, taken, measured=True)


async def _from_clickhouse(db: Database, warehouse: Warehouse, settings: Settings, question: Question) -> Told:
    """It is told first what changed, so that its figures are those of Postgres."""
    await sync_warehouse(db, warehouse, settings)
    asked = views.statement(question, "clickhouse")
    answer = await warehouse.ask("ask", sql=asked.sql, values=asked.values)
    points, matched, more = views.points(question, answer["rows"])
    return points, matched, more, Cost("clickhouse", answer["read_rows"], answer["milliseconds"], measured=True)
