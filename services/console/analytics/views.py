"""One question, two dialects of the same statement; and what was asked before."""
# statements are built from the constants here
# ruff: noqa: S608

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from asyncpg import Record

from services.console.analytics.domain import MEASURES, Engine, Figure, Point, Question, Source
from shared.db import Tx

_TABLES: dict[Engine, dict[Source, str]] = {
    "postgres": {"signals": "app.interactions", "calls": "app.calls", "spend": "app.spend"},
    "clickhouse": {"signals": "signals", "calls": "calls", "spend": "spend"},
}
_KEYS: dict[str, tuple[str, str]] = {
    "none": ("''", "''"),
    "item": ("coalesce(item_id::text, '')", "ifNull(toString(item_id), '')"),
    "link": ("coalesce(link_id::text, '')", "ifNull(toString(link_id), '')"),
    "page": ("path", "path"),
    "model": ("connector || '/' || model", "model"),
    "owner": ("owner_kind || ':' || owner_id", "owner"),
}
"""Of Postgres and of ClickHouse, where it is not just the column of that name."""
_BAD = "outcome IN ('failed', 'refused', 'lost')"
_SUMS: dict[str, tuple[str, str]] = {
    "n": ("count(*)", "toInt64(count())"),
    "visitors": ("count(DISTINCT visitor)", "toInt64(uniqExact(visitor))"),
    "value": ("coalesce(sum(value), 0)::bigint", "toInt64(sum(value))"),
    "bad": (f"count(*) FILTER (WHERE {_BAD})", f"toInt64(countIf({_BAD}))"),
    "milliseconds": ("sum(duration_ms)::bigint", "sum(duration_ms)"),
    "cost": ("sum(cost)", "sum(cost)"),
    "unknown": ("count(*) FILTER (WHERE cost IS NULL)", "toInt64(countIf(cost IS NULL))"),
    **{name: (f"sum({name})::bigint", f"sum({name})") for name in ("bytes_out", "bytes_in", "tokens_in", "tokens_out")},
}
_NARROWED = {"kind": ("kind", "String"), "item": ("item_id", "UUID"), "lang": ("lang", "String")}
_ESTIMATE = "EXPLAIN (FORMAT JSON) "
_RATES = """
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY milliseconds / planned) FILTER (WHERE engine = 'postgres' AND planned >= 1000) AS postgres,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY milliseconds / rows) FILTER (WHERE engine = 'clickhouse' AND rows >= 100000) AS clickhouse
  FROM (SELECT * FROM app.rollup_runs WHERE planned IS NOT NULL OR engine = 'clickhouse' ORDER BY id DESC LIMIT 40) r
"""
_RUNS = "SELECT at, by_name, engine, reason, question, rows, milliseconds FROM app.rollup_runs WHERE engine = 'clickhouse' ORDER BY id DESC LIMIT $1"
_STATE = "SELECT generation, synced_at, rows, fault FROM app.warehouse"
_HELD = "SELECT reltuples::bigint AS n FROM pg_class WHERE oid = $1::regclass"


class Statement(NamedTuple):
    """`values` in order (Postgres) or by name (ClickHouse)."""

    sql: str
    values: dict[str, Any]


class Rates(NamedTuple):
    """Milliseconds for a unit of Postgres' estimate, and for a row that ClickHouse reads. None: never measured here."""

    postgres: float | None
    clickhouse: float | None


def statement(question: Question, engine: Engine) -> Statement:
    """Columns: bucket (seconds, or 0), key, the source's measures in their order, and how many rows matched in all."""
    at = 0 if engine == "postgres" else 1
    key = _KEYS.get(question.by, (question.by, question.by))[at]
    measures = ", ".join(f"{_SUMS[name][at]} AS {name}" for name in MEASURES[question.source])
    matched = ("sum(count(*)) OVER ()::bigint", "toInt64(sum(count()) OVER ())")[at]
    where, values = _where(question, engine)
    order = "bucket, n DESC, key" if question.bucket != "all" else "n DESC, key"
    collated = order.replace("key", 'key COLLATE "C"') if engine == "postgres" else order
    inner = f"SELECT {_bucket(question, engine)} AS bucket, {key} AS key, {measures}, {matched} AS matched FROM {_TABLES[engine][question.source]} WHERE {where} GROUP BY 1, 2"
    return Statement(f"SELECT * FROM ({inner}) t ORDER BY {collated} LIMIT {int(question.top) + 1}", values)


def _bucket(question: Question, engine: Engine) -> str:
    if question.bucket == "all":
        return "0"
    start = f"date_trunc('{question.bucket}', at, 'UTC')"
    if engine == "postgres":
        return f"extract(epoch FROM {start})::bigint"
    return f"toInt64(toUnixTimestamp(toDateTime({start}, 'UTC')))"


def _where(question: Question, engine: Engine) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {"since": question.since, "until": question.until}
    parts = [("at >= ", "since", "DateTime64(6, 'UTC')"), ("at < ", "until", "DateTime64(6, 'UTC')")]
    for name, (column, kind) in _NARROWED.items():
        if given := getattr(question, name):
            values[name] = given
            parts.append((f"{column} = ", name, kind))
    ours = engine == "postgres"
    marks = [
        f"{test}${number}" + ("::text::uuid" if ours and name == "item" else "") if ours else f"{test}{{{name}:{kind}}}"
        for number, (test, name, kind) in enumerate(parts, start=1)
    ]
    if question.source == "calls":
        marks.append("outcome <> 'begun'")
    if not ours:
        values = {name: _for_clickhouse(value) for name, value in values.items()}
    return " AND ".join(marks), values


def _for_clickhouse(value: Any) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}" if isinstance(value, datetime) else str(value)


async def ask_postgres(tx: Tx, question: Question) -> Sequence[Record]:
    asked = statement(question, "postgres")
    return list(await tx.raw.fetch(asked.sql, *asked.values.values()))


async def planned(tx: Tx, question: Question) -> tuple[float, int]:
    """Postgres' own estimate before it begins: units of cost, and rows that it will read."""
    asked = statement(question, "postgres")
    plan = (await tx.raw.fetchval(_ESTIMATE + asked.sql, *asked.values.values()))[0]["Plan"]
    leaf, workers = plan, 1
    while leaf.get("Plans"):
        workers = max(workers, int(leaf.get("Workers Planned", 0)) + 1)
        leaf = leaf["Plans"][0]
    return float(plan["Total Cost"]), int(leaf["Plan Rows"]) * workers


async def rates(tx: Tx) -> Rates:
    """From the newest questions that were really asked here."""
    row = await tx.raw.fetchrow(_RATES)
    return Rates(row["postgres"], row["clickhouse"]) if row else Rates(None, None)


async def held(tx: Tx, source: Source) -> int:
    """About how many rows there are."""
    return max(int(await tx.raw.fetchval(_HELD, _TABLES["postgres"][source])), 0)


async def newest_runs(tx: Tx, limit: int = 20) -> list[dict[str, Any]]:
    """What was asked of ClickHouse, newest first."""
    return [dict(row.items()) for row in await tx.raw.fetch(_RUNS, limit)]


async def state(tx: Tx) -> dict[str, Any]:
    """Of the copy: generation, synced_at, rows, fault."""
    row = await tx.raw.fetchrow(_STATE)
    return dict(row.items()) if row else {"generation": 1, "synced_at": None, "rows": None, "fault": None}


def points(question: Question, rows: Sequence[Any]) -> tuple[list[Point], int, bool]:
    """Rows of either engine as points; how many rows matched; whether there are more points than asked for."""
    names = MEASURES[question.source]
    found = [
        Point(
            None if question.bucket == "all" else datetime.fromtimestamp(int(row[0]), UTC),
            str(row[1]),
            {name: _figure(row[2 + at]) for at, name in enumerate(names)},
        )
        for row in rows[: question.top]
    ]
    return found, int(rows[0][2 + len(names)]) if rows else 0, len(rows) > question.top


def _figure(value: Any) -> Figure:
    """Money is compared as numbers: 1.50 and 1.5 are the same."""
    if value is None or isinstance(value, int):
        return value
    return Decimal(str(value)).normalize()
