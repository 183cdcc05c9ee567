"""Read rows: {"role", "database", "query", "args"?}; with "write": true a statement that is kept (cleaning up, decoys). `value` is a list of lists."""

from itertools import groupby
from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import session


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for (role, database), group in groupby(attempts, key=lambda each: (each["role"], each["database"])):
        async with session(state, role, database) as connection:
            found += [await _read(connection, each) for each in group]
    return found


async def _read(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, Any]:
    async with connection.transaction(readonly=not each.get("write")):
        rows = await connection.fetch(each["query"], *each.get("args", ()))
    return {"got": "done", "value": [[_plain(value) for value in row] for row in rows]}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str | int | bool | list | None) else str(value)
