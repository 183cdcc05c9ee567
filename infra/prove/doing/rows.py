"""Read rows: {"role", "database", "query", "args"?}; with "write": true a statement that is kept (cleaning up, decoys). `value` is a list of lists."""

from pathlib import Path
from typing import Any

import asyncpg


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    connections: dict[tuple[str, str], asyncpg.Connection] = {}
    found = []
    try:
        for each in attempts:
            place = (each["role"], each["database"])
            if place not in connections:
                connections[place] = await open_as(state, *place)
            found.append(await _read(connections[place], each))
    finally:
        for connection in connections.values():
            await connection.close()
    return found


async def open_as(state: Path, role: str, database: str) -> asyncpg.Connection:
    return await asyncpg.connect(host=str(state / "run" / "pg"), user=role, database=database, timeout=40)


async def _read(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
    async with connection.transaction(readonly=not each.get("write")):
        rows = await connection.fetch(each["query"], *each.get("args", ()))
    return {"got": "done", "value": [[_plain(value) for value in row] for row in rows]}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str | int | bool | list | None) else str(value)
