"""Attack with SQL, always rolled back: {"role", "database", "statement", "before"?: […], "verify"?, "codes"?: […]}.

`refused` means: with one of `codes` (default: insufficient privilege). `verify` is a query that must be true after a statement that raised nothing;
some statements refuse with a warning only.
"""

from itertools import groupby
from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import session

DENIED = ("42501", "28000")
LOCKED, TRIES = "55P03", 4
BEFORE = ("SET LOCAL lock_timeout = '500ms'", "SET LOCAL statement_timeout = '5s'")


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for (role, database), group in groupby(attempts, key=lambda each: (each["role"], each["database"])):
        async with session(state, role, database) as connection:
            found += [await _attack(connection, each) for each in group]
    return found


async def _attack(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
    """Tried again where the service itself held the lock for a moment: it never waits long for us, nor we for it."""
    outcome: dict[str, Any] = {}
    for _ in range(TRIES):
        outcome = await _once(connection, each)
        if not str(outcome.get("detail", "")).startswith(LOCKED):
            break
    return outcome


async def _once(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
    if connection.is_closed():
        return {"got": "error", "detail": "an attempt before ended the connection"}
    await connection.execute("BEGIN")
    try:
        for statement in (*BEFORE, *each.get("before", ())):
            await connection.execute(statement)
        return await _attempt(connection, each)
    except asyncpg.PostgresError as error:
        return {"got": "error", "detail": f"the preparation failed: {error.sqlstate} {error}"}
    finally:
        if not connection.is_closed():
            await connection.execute("ROLLBACK")


async def _attempt(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
    try:
        await connection.execute(each["statement"])
    except asyncpg.PostgresError as error:
        got = "refused" if error.sqlstate in each.get("codes", DENIED) else "error"
        return {"got": got, "detail": f"{error.sqlstate} {error}"}
    if each.get("verify") and await connection.fetchval(each["verify"]):
        return {"got": "refused", "detail": "without effect"}
    return {"got": "done"}
