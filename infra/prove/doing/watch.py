"""Wait for the traces of forged events: {"as", "token", "marks", "seconds"}. `value` lists [mark, "parked" | "refused", reason]."""

import asyncio
import re
from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import session
from shared.settings import DATABASES

EVERY_SECONDS = 0.2
PARKED = "SELECT convert_from(body, 'UTF8') || ' ' || coalesce(convert_from(part, 'UTF8'), ''), reason FROM app.parked WHERE position(convert_to($1, 'UTF8') IN body) > 0"
REFUSED = (
    "SELECT key, reason FROM core.crossings WHERE key LIKE 'prove:' || $1 || ':%' AND verdict IN ('refused', 'blocked')"
)
CROSSED = "SELECT key, verdict FROM core.crossings WHERE key LIKE 'prove:' || $1 || ':%' AND verdict NOT IN ('refused', 'blocked', 'parked')"


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"got": "done", "value": await _watch(state, each)} for each in attempts]


async def _watch(state: Path, each: dict[str, Any]) -> list[list[str]]:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + each["seconds"]
    while True:
        async with session(state, each["as"], DATABASES[each["as"]]) as connection:
            found = await _look(connection, each)
        if set(each["marks"]) <= found.keys() or loop.time() > deadline:
            return [[mark, *fate] for mark, fate in found.items()]
        await asyncio.sleep(EVERY_SECONDS)


async def _look(connection: asyncpg.Connection, each: dict[str, Any]) -> dict[str, tuple[str, str]]:
    found = {}
    queries = [(PARKED, "parked")] + ([(REFUSED, "refused"), (CROSSED, "crossed")] if each["as"] == "bridge" else [])
    for query, fate in queries:
        for text, reason in await connection.fetch(query, each["token"]):
            if mark := re.search(rf"prove:{each['token']}:([^:]*):", text):
                found[mark.group(1)] = (fate, reason)
    return found
