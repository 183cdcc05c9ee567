"""One owner's rows attacked from everybody else's side, with the service's own role: {"service"}. `value` lists [actor, attempt, expected, got, detail].

Decoys are planted by the superuser, everything is tried behind SET ROLE, and all of it is one transaction that is rolled back. `done`: something
was seen or changed.
"""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

import re
from collections.abc import Awaitable, Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import CheckConstraint, Column, Table

from infra.observe.doing.session import session
from infra.postgres.core import DIALECT, Core, declared
from infra.postgres.settings import SUPERUSER
from shared.settings import DATABASES

KIND, NAME = "user", "prove-a"
ACTORS: dict[str, tuple[str, str]] = {
    "for nobody": ("", ""),
    "for another user": (KIND, "prove-b"),
    "for the guest of that name": ("guest", NAME),
    "for a name that begins the same": (KIND, f"{NAME}-2"),
    "for a pattern": (KIND, "prove-%"),
}
REFUSED = ("42501", "0A000", "23503")
"""Not allowed; COPY into a divided table; and that what it hangs on is not seen."""
SEEN = "P0001"
_ACT = "SELECT set_config('app.owner_kind', $1, true), set_config('app.owner_id', $2, true)"
_THEIRS = f"owner_kind = '{KIND}' AND owner_id = '{NAME}'"
_BY_TYPE = {
    "UUID": "'7f3c2a10-0000-4000-8000-00000000000a'",
    "TIMESTAMP WITH TIME ZONE": "now()",
    "BYTEA": "'\\x7b7d'::bytea",
    "BOOLEAN": "false",
    "JSONB": "'{}'::jsonb",
    "JSON": "'{}'::json",
    "DATE": "current_date",
}
_ONE_OF = re.compile(r"^\s*(\w+) IN \(\s*('[^']+')")
_HASH = re.compile(r"^\s*(\w+) = encode\(sha256\((\w+)\), 'hex'\)")
BEFORE: dict[str, str] = {
    "usage_ledger": "INSERT INTO core.reservations (owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, expires_at, amount, most_in, most_out)"
    f" SELECT '{KIND}', '{NAME}', {_BY_TYPE['UUID']}, {_BY_TYPE['UUID']}, 'x', 'x', 'x', 'x', 'x', now(), 1, 1, 1",
}
"""What must be there before a decoy of that table can be."""
VALUES = {"behavior_versions.before": "0", "task_runs.fence": "(SELECT fence FROM core.task_lease)"}
"""What a column of a decoy must be, where its type alone does not say."""
# {t}: the table; each gives a number, and more than 0 is too many
READS: dict[str, tuple[str, ...]] = {
    "read": ("SELECT count(*) FROM {t} WHERE {theirs}",),
    "read everybody's": ("SELECT count(*) FROM {t} WHERE NOT (owner_kind = current_setting('app.owner_kind') AND owner_id = current_setting('app.owner_id'))",),
    "read with row security off": ("SET LOCAL row_security = off", "SELECT count(*) FROM {t}"),
    "read by a function with its owner's rights": (
        "CREATE FUNCTION app.prove_f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM {t}'", "SELECT app.prove_f()",
    ),
    "read by a view": ("CREATE VIEW app.prove_v AS SELECT * FROM {t}", "SELECT count(*) FROM app.prove_v WHERE {theirs}"),
    "read by a materialised view": ("CREATE MATERIALIZED VIEW app.prove_m AS SELECT * FROM {t}", "SELECT count(*) FROM app.prove_m WHERE {theirs}"),
    "read by a condition that tells": (
        "CREATE FUNCTION app.prove_t(o text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS 'BEGIN IF o = ''prove-a'' THEN RAISE EXCEPTION ''seen''; END IF; RETURN true; END'",
        "SELECT count(*) FROM {t} WHERE app.prove_t(owner_id) AND {theirs}",
    ),
    "read what the planner knows": ("SELECT count(*) FROM pg_stats WHERE schemaname = 'core' AND tablename = '{name}'",),
}  # fmt: skip
WRITES: dict[str, str] = {
    "delete": "WITH gone AS (DELETE FROM {t} WHERE {theirs} RETURNING 1) SELECT count(*) FROM gone",
    "update": "WITH changed AS (UPDATE {t} SET {u} = {u} WHERE {theirs} RETURNING 1) SELECT count(*) FROM changed",
    "take over": "WITH changed AS (UPDATE {t} SET owner_id = current_setting('app.owner_id') WHERE {theirs} RETURNING 1) SELECT count(*) FROM changed",
    "insert for them": "WITH made AS (INSERT INTO {t} ({c}) VALUES ({v}) RETURNING 1) SELECT count(*) FROM made",
    "insert over theirs": "WITH made AS (INSERT INTO {t} ({c}) VALUES ({v}) ON CONFLICT DO NOTHING RETURNING 1) SELECT count(*) FROM made",
}


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _attack(state, each["service"]) for each in attempts]


async def _attack(state: Path, service: str) -> dict[str, Any]:
    core, found = declared(service), []
    async with session(state, SUPERUSER, DATABASES[service]) as connection:
        for table in (each for each in core.metadata.sorted_tables if each.name in core.owned):
            await connection.execute("BEGIN")
            try:
                await connection.execute("SET LOCAL lock_timeout = '2s'")
                found += await _table(connection, service, core, table)
            except asyncpg.PostgresError as error:
                found.append([service, f"core.{table.name}: a decoy", "done", "error", f"{error.sqlstate} {error}"])
            finally:
                await connection.execute("ROLLBACK")
    return {"got": "done", "value": found}


async def _table(connection: asyncpg.Connection, service: str, core: Core, table: Table) -> list[list[str]]:
    await connection.execute(_ACT, KIND, NAME)
    await _plant(connection, table)
    await connection.execute(f"SET LOCAL ROLE {service}")
    own = await _try(connection, f"SELECT count(*) FROM core.{table.name} WHERE {_THEIRS}")
    found = [[service, f"core.{table.name}: its owner reads it", "done", *own]]
    for says, (kind, name) in ACTORS.items():
        await connection.execute(_ACT, kind, name)
        for attempt, statements in _statements(core, table):
            outcome = await _try(connection, *statements)
            found.append([service, f"core.{table.name}, {says}: {attempt}", "refused", *outcome])
        for attempt, outcome in (("copy out", await _copied(connection, table)), ("copy in", await _copied_in(connection, core, table))):  # fmt: skip
            found.append([service, f"core.{table.name}, {says}: {attempt}", "refused", *outcome])
    return found


async def _plant(connection: asyncpg.Connection, table: Table) -> None:
    """A row of theirs, and before it those that it hangs on."""
    for constraint in table.foreign_key_constraints:
        if constraint.referred_table is not table:
            await _plant(connection, constraint.referred_table)
    if table.name in BEFORE:
        await connection.execute(BEFORE[table.name])
    names, values = _decoy(table, frozenset(column.name for column in table.columns))
    statement = (
        f"INSERT INTO core.{table.name} ({names}) OVERRIDING SYSTEM VALUE VALUES ({values}) ON CONFLICT DO NOTHING"
    )
    await connection.execute(statement)


def _statements(core: Core, table: Table) -> Iterator[tuple[str, tuple[str, ...]]]:
    columns, values = _decoy(table, core.columns(table, "insert"))
    update = next(iter(sorted(core.columns(table, "update"))), "owner_id")
    names = {"t": f"core.{table.name}", "name": table.name, "theirs": _THEIRS, "u": update, "c": columns, "v": values}
    for says, statements in READS.items():
        yield says, tuple(each.format(**names) for each in statements)
    for says, statement in WRITES.items():
        if columns or "insert" not in says:
            yield says, (statement.format(**names),)


async def _try(connection: asyncpg.Connection, *statements: str) -> tuple[str, str]:
    """The last one gives a number."""

    async def ask() -> tuple[str, str]:
        for statement in statements[:-1]:
            await connection.execute(statement)
        number = await connection.fetchval(statements[-1])
        return ("done", f"{number} rows") if number else ("refused", "nothing was seen")

    return await _undone(connection, ask)


async def _copied(connection: asyncpg.Connection, table: Table) -> tuple[str, str]:
    async def copy() -> tuple[str, str]:
        taken = BytesIO()
        await connection.copy_from_table(table.name, schema_name="core", output=taken)
        return ("done", "rows came out") if NAME.encode() in taken.getvalue() else ("refused", "nothing was seen")

    return await _undone(connection, copy)


async def _copied_in(connection: asyncpg.Connection, core: Core, table: Table) -> tuple[str, str]:
    columns = [name for name in ("owner_kind", "owner_id") if name in core.columns(table, "insert")] or ["owner_id"]
    row = ",".join({"owner_kind": KIND, "owner_id": NAME}[name] for name in columns).encode()

    async def copy() -> tuple[str, str]:
        source = BytesIO(row)
        await connection.copy_to_table(table.name, schema_name="core", columns=columns, source=source, format="csv")
        return "done", "a row went in"

    return await _undone(connection, copy)


async def _undone(connection: asyncpg.Connection, attempt: Callable[[], Awaitable[tuple[str, str]]]) -> tuple[str, str]:
    """Whatever it does is taken back."""
    await connection.execute("SAVEPOINT attempt")
    try:
        return await attempt()
    except asyncpg.PostgresError as error:
        return _read(error)
    finally:
        await connection.execute("ROLLBACK TO SAVEPOINT attempt")


def _read(error: asyncpg.PostgresError) -> tuple[str, str]:
    if error.sqlstate == SEEN and "seen" in str(error):
        return "done", "a condition saw the row"
    return "refused" if error.sqlstate in REFUSED else "error", f"{error.sqlstate} {error}"


def _decoy(table: Table, wanted: frozenset[str]) -> tuple[str, str]:
    """Columns and values of a row of theirs, of the wanted columns."""
    made: dict[str, str] = {"owner_kind": f"'{KIND}'", "owner_id": f"'{NAME}'"}
    for column in table.columns:
        if column.name not in made and _is_needed(column):
            made[column.name] = VALUES.get(f"{table.name}.{column.name}") or _value(column)
    made |= {name: value for text in _checks(table) for name, value in _meeting(text, made)}
    kept = {name: value for name, value in made.items() if name in wanted}
    return ", ".join(kept), ", ".join(kept.values())


def _is_needed(column: Column[Any]) -> bool:
    return not column.nullable and column.server_default is None and column.identity is None


def _value(column: Column[Any]) -> str:
    kind = str(column.type.compile(dialect=DIALECT)).upper()
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if kind.endswith("[]"):
        return "'{}'"
    return "1" if kind.startswith(("BIGINT", "INTEGER", "SMALLINT", "NUMERIC")) else "'x'"


def _checks(table: Table) -> list[str]:
    return [str(each.sqltext) for each in table.constraints if isinstance(each, CheckConstraint)]


def _meeting(check: str, made: dict[str, str]) -> Iterator[tuple[str, str]]:
    if (found := _ONE_OF.match(check)) and found[1] not in ("owner_kind",):
        yield found[1], found[2]
    if found := _HASH.match(check):
        yield found[1], f"encode(sha256({made.get(found[2], _BY_TYPE['BYTEA'])}), 'hex')"
