"""Interactions in, pieces for ClickHouse out."""
# statements are built from the constants here
# ruff: noqa: S608

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.console.analytics.domain import SOURCES, Cost, Question, Source
from shared.db import Tx

Piece = Mapping[str, Any]
_COLUMNS = ("load", "n", "at", "kind", "item_id", "lang", "path", "referrer", "link_id", "visitor", "value")
_NEW_LOAD = "INSERT INTO app.interaction_loads (rows) VALUES ($1) RETURNING load"
_KNOWN = "SELECT statement FROM app.schema_changes WHERE statement LIKE 'CREATE OR REPLACE %'"
_KEEP = "INSERT INTO app.schema_changes (statement) VALUES ($1)"
_BEGIN = "INSERT INTO app.warehouse DEFAULT VALUES ON CONFLICT DO NOTHING"
_PATIENT = "SELECT set_config('idle_in_transaction_session_timeout', '120s', true)"
"""While ClickHouse takes a piece the transaction waits."""
_LEAD = "SELECT pg_advisory_xact_lock(hashtext('schleuse warehouse'))"
_SIZES = "SELECT load, rows FROM app.interaction_loads WHERE load = ANY($1::bigint[])"
_GENERATION = "SELECT generation FROM app.warehouse"
_NEXT = "UPDATE app.warehouse SET generation = generation + 1, fault = NULL"
_SYNCED = "UPDATE app.warehouse SET synced_at = clock_timestamp(), rows = $1, fault = NULL"
_FAULT = "UPDATE app.warehouse SET fault = $1"
_WAITING = """
SELECT chunk, array_agg(id) AS ids, bool_or(afresh) AS afresh FROM app.warehouse_todo WHERE source = $1
GROUP BY chunk ORDER BY chunk LIMIT $2"""
_DONE = "DELETE FROM app.warehouse_todo WHERE id = ANY($1::bigint[])"
_LEFT = "SELECT count(DISTINCT (source, chunk)) FROM app.warehouse_todo"
_FORGET = "DELETE FROM app.warehouse_todo"
_RUN = "INSERT INTO app.rollup_runs (by_name, engine, reason, question, rows, milliseconds, planned) VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7)"
_KEEP_RUNS = "DELETE FROM app.rollup_runs WHERE id <= (SELECT max(id) - 1000 FROM app.rollup_runs)"

PIECES = {"signals": 250, "calls": 200, "spend": 10}
"""How many pieces are told at once at most, and of signals how many rows."""
MOST_ROWS = 250_000
MOST_WAITING = 1_000_000
_UTC = "{} AT TIME ZONE 'UTC'"


@dataclass(frozen=True)
class Telling:
    """A table that ClickHouse holds a copy of: how its rows fall into pieces, and what of them is told, in the copy's order."""

    table: str
    chunk: str
    tells: str


TELLING: dict[Source, Telling] = {
    "signals": Telling(
        "app.interactions",
        "load",
        f"load, n, {_UTC.format('at')}, kind, item_id, lang, path, referrer, link_id, ('x' || visitor)::bit(64)::bigint, value",
    ),
    "calls": Telling(
        "app.calls",
        "seq / 1000",
        f"seq / 1000, entry_id, {_UTC.format('at')}, asker, connector, operation, outcome, duration_ms, bytes_out, bytes_in",
    ),
    "spend": Telling(
        "app.spend",
        "floor(extract(epoch FROM at) / 86400)::bigint",
        f"floor(extract(epoch FROM at) / 86400)::bigint, call_id, {_UTC.format('at')}, owner_kind || ':' || owner_id, connector"
        " || '/' || model, app, surface, purpose, cost, tokens_in, tokens_out",
    ),
}


def functions() -> list[str]:
    """By which every change of a source is noted, whoever makes it. They are of `core`: whoever they serve cannot change them."""
    head = "RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$"
    made = []
    for source, telling in TELLING.items():
        noted = f"SELECT DISTINCT '{source}', {telling.chunk}, TG_OP = 'UPDATE' FROM changed"
        body = f"BEGIN INSERT INTO app.warehouse_todo (source, chunk, afresh) {noted}; RETURN NULL; END"
        emptied = f"BEGIN INSERT INTO app.warehouse_todo (source, chunk) VALUES ('{source}', -1); RETURN NULL; END"
        made.append(f"CREATE OR REPLACE FUNCTION core.note_{source}() {head} {body} $$")
        made.append(f"CREATE OR REPLACE FUNCTION core.note_{source}_emptied() {head} {emptied} $$")
    return made


def notes() -> list[str]:
    """The triggers that call them. Idempotent."""
    made = []
    for source, telling in TELLING.items():
        for event, of in (("INSERT", "NEW"), ("DELETE", "OLD"), ("UPDATE", "OLD"), ("UPDATE", "NEW")):
            made.append(
                f"CREATE OR REPLACE TRIGGER note_{event.lower()}_{of.lower()} AFTER {event} ON {telling.table}"
                f" REFERENCING {of} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION core.note_{source}()"
            )
        made.append(
            f"CREATE OR REPLACE TRIGGER note_truncate AFTER TRUNCATE ON {telling.table}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION core.note_{source}_emptied()"
        )
    return made


async def add_load(tx: Tx, rows: Sequence[tuple[Any, ...]]) -> int:
    """Rows without load and place, in order; the load's number."""
    load = int(await tx.raw.fetchval(_NEW_LOAD, len(rows)))
    numbered = [(load, number, *row) for number, row in enumerate(rows)]
    await tx.raw.copy_records_to_table("interactions", schema_name="app", records=numbered, columns=_COLUMNS)
    return load


async def prepare(tx: Tx) -> None:
    """At a start, one instance after the other."""
    await tx.raw.execute(_LEAD)
    await tx.raw.execute(_BEGIN)
    known = {row["statement"] for row in await tx.raw.fetch(_KNOWN)}
    for each in notes():
        if each not in known:
            await tx.raw.execute(each)
            await tx.raw.execute(_KEEP, each)


async def lead(tx: Tx) -> int:
    """Until the transaction ends nobody else tells ClickHouse anything; the generation that it should be of."""
    await tx.raw.execute(_PATIENT)
    await tx.raw.execute(_LEAD)
    return int(await tx.raw.fetchval(_GENERATION))


async def renew(tx: Tx) -> None:
    """Another generation: whoever holds a copy of this one is told everything again."""
    await tx.raw.execute(_NEXT)


async def note_all(tx: Tx) -> None:
    """Everything is to be told."""
    await tx.raw.execute(_FORGET)
    await tx.raw.execute(
        "INSERT INTO app.warehouse_todo (source, chunk) SELECT 'signals', load FROM app.interaction_loads"
    )
    for source in SOURCES[1:]:
        telling = TELLING[source]
        await tx.raw.execute(
            f"INSERT INTO app.warehouse_todo (source, chunk) SELECT DISTINCT '{source}', {telling.chunk} FROM {telling.table}"
        )


async def waiting(tx: Tx, source: Source) -> list[Piece]:
    """The next pieces: chunk, ids of what noted it, and whether it is to be told as a whole."""
    found: list[Piece] = [dict(row.items()) for row in await tx.raw.fetch(_WAITING, source, PIECES[source])]
    if source != "signals":
        return found
    wanted = [row["chunk"] for row in found]
    sizes = {row["load"]: int(row["rows"]) for row in await tx.raw.fetch(_SIZES, wanted)}
    rows, kept = 0, list[Piece]()
    for row in found:
        rows += sizes.get(row["chunk"], 0)
        if kept and rows > MOST_ROWS:
            break
        kept.append(row)
    return kept


async def told(tx: Tx, source: Source, chunks: Sequence[int]) -> bytes:
    """All rows of these pieces as they are now, in Postgres' text form, which ClickHouse reads as TabSeparated."""
    telling = TELLING[source]
    found = bytearray()

    async def keep(part: bytes) -> None:
        found.extend(part)

    listed = ", ".join(str(int(each)) for each in chunks)
    await tx.raw.copy_from_query(
        f"SELECT {telling.tells} FROM {telling.table} WHERE {telling.chunk} IN ({listed})", output=keep
    )
    return bytes(found)


async def done(tx: Tx, ids: Sequence[int]) -> None:
    await tx.raw.execute(_DONE, ids)


async def count_left(tx: Tx) -> int:
    """Pieces that ClickHouse does not know yet."""
    return int(await tx.raw.fetchval(_LEFT))


async def note_synced(tx: Tx, rows: int) -> None:
    await tx.raw.execute(_SYNCED, rows)


async def note_fault(tx: Tx, fault: str) -> None:
    await tx.raw.execute(_FAULT, fault)


async def forget_waiting(tx: Tx) -> bool:
    """Where there is no ClickHouse, what waits for it must not grow for ever. Whether something was dropped; a later copy then begins anew."""
    if int(await tx.raw.fetchval("SELECT count(*) FROM (SELECT FROM app.warehouse_todo LIMIT $1) t", MOST_WAITING + 1)) <= MOST_WAITING:  # fmt: skip
        return False
    await tx.raw.execute(_FORGET)
    await renew(tx)
    return True


async def limit_time(tx: Tx, most: str, memory: str = "64MB") -> None:
    """Of each statement until the transaction ends, and how much memory a sort may have before it goes to the disk."""
    await tx.raw.execute(
        "SELECT set_config('statement_timeout', $1, true), set_config('work_mem', $2, true)", most, memory
    )


async def note_run(tx: Tx, by: str, question: Question, cost: Cost, reason: str, planned: float | None) -> None:

    await tx.raw.execute(
        _RUN, by, cost.engine, reason, json.dumps(question.to_json()), cost.rows, cost.milliseconds, planned
    )
    await tx.raw.execute(_KEEP_RUNS)
