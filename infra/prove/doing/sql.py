"""Attack with SQL, always rolled back: {"role", "database", "statement", "before"?: […], "verify"?, "codes"?: […]}.

`refused` means: with one of `codes` (default: insufficient privilege). `verify` is a query that must be true after a statement that raised nothing;
some statements refuse with a warning only.
"""

from pathlib import Path
from typing import Any

import asyncpg

from infra.prove.doing.rows import open_as

DENIED = ("42501", "28000")
BEFORE = ("SET LOCAL lock_timeout = '500ms'", "SET LOCAL statement_timeout = '5s'")


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    connections: dict[tuple[str, str], asyncpg.Connection] = {}
    found = []
    try:
        for each in attempts:
            place = (each["role"], each["database"])
            if place not in connections or connections[place].is_closed():
                connections[place] = await open_as(state, *place)
            found.append(await _attack(connections[place], each))
    finally:
        for connection in connections.values():
            await connection.close()
    return found


async def _attack(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
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
