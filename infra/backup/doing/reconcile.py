"""After the databases were restored, before anything runs: what was on its way is on its way again. Runs as the database server's own OS user.

    python -m infra.backup.doing.reconcile --state DIR

All five databases are at one point, and the bus is empty. An outbox row that is not in its reader's inbox was sent and not read, or not sent: it goes
into `todo`, and the relay sends it (again); the inbox absorbs what is read twice. Standard input: the messages that lay in the streams, one JSON line
each (infra.backup.streams): those that no outbox holds any more are put back into their sender's.
"""

import argparse
import asyncio
import base64
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
from pydantic import ValidationError

from infra.backup.doing.saying import run, say
from infra.postgres.provision import connect
from schemas.catalogue import BY_NAME, SURFACES
from schemas.envelope import Envelope
from schemas.text import BadJson
from shared.outbox.seal import HEADER
from shared.settings import DATABASES

SENT = """
SELECT o.position, o.event_id, o.lane FROM app.outbox o
 WHERE starts_with(o.subject, $1) AND NOT EXISTS (SELECT FROM app.todo t WHERE t.position = o.position)
   AND NOT EXISTS (SELECT FROM app.parked p WHERE p.event_id = o.event_id AND p.subject = o.subject)
"""
SPOOL = "CREATE TEMP TABLE sent_out (position bigint, event_id uuid, lane text)"
UNREAD = "SELECT position, lane FROM sent_out s WHERE NOT EXISTS (SELECT FROM app.inbox i WHERE i.reader = $1 AND i.event_id = s.event_id)"
TODO = "INSERT INTO app.todo (position, lane) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING"
IS_READ = "SELECT EXISTS (SELECT FROM app.inbox WHERE reader = $1 AND event_id = $2)"
PUT_BACK = """
WITH o AS (
  INSERT INTO app.outbox (event_id, name, subject, lane, about, key, keyversion, body, headers)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb WHERE NOT EXISTS (SELECT FROM app.outbox WHERE event_id = $1 AND subject = $3)
  ON CONFLICT DO NOTHING RETURNING position, lane)
INSERT INTO app.todo (position, lane) SELECT position, lane FROM o RETURNING position
"""
PORTION = 5_000


@dataclass(frozen=True)
class Way:
    """From a sender's outbox to a reader's inbox; `subjects` is what they begin with."""

    sender: str
    reader: str
    subjects: str


def ways() -> list[Way]:
    said = [Way(surface, "bridge", f"from.{surface}.") for surface in SURFACES]
    return said + [Way("bridge", surface, f"to.{surface}.") for surface in SURFACES]


async def reconcile(socket_dir: Path, messages: Iterable[str]) -> dict[str, Any]:
    """{"sent_again": by way, "from_streams", "unreadable"}."""
    async with _connections(socket_dir) as databases:
        again = {}
        for way in ways():
            count = await _send_again(databases[way.sender], databases[way.reader], way)
            if count:
                again[f"{way.sender} to {way.reader}"] = count
        put_back, unreadable = 0, 0
        for line in messages:
            came = await _put_back(databases, json.loads(line))
            put_back, unreadable = put_back + (came is True), unreadable + (came is None)
    return {"sent_again": again, "from_streams": put_back, "unreadable": unreadable}


@asynccontextmanager
async def _connections(socket_dir: Path) -> AsyncIterator[dict[str, asyncpg.Connection]]:
    async with AsyncExitStack() as stack:
        found = {}
        for service, name in DATABASES.items():
            found[service] = await connect(socket_dir, name)
            stack.push_async_callback(found[service].close)
        yield found


async def _send_again(sender: asyncpg.Connection, reader: asyncpg.Connection, way: Way) -> int:
    """By way of a file, so that no outbox has to fit into memory."""
    if await sender.fetchval("SELECT to_regclass('app.outbox') IS NULL"):
        return 0
    with tempfile.TemporaryFile() as spool:
        await sender.copy_from_query(SENT, way.subjects, output=spool, format="binary")
        spool.seek(0)
        await reader.execute(SPOOL)
        await reader.copy_to_table("sent_out", source=spool, format="binary")
    count = 0
    async with reader.transaction(), sender.transaction():
        cursor = await reader.cursor(UNREAD, way.reader)
        while rows := await cursor.fetch(PORTION):
            await sender.execute(TODO, [row["position"] for row in rows], [row["lane"] for row in rows])
            count += len(rows)
    await reader.execute("DROP TABLE sent_out")
    return count


async def _put_back(databases: dict[str, asyncpg.Connection], message: dict[str, Any]) -> bool | None:
    """Whether it was missing; None when it is no event at all, which its reader would only have parked."""
    body, subject = base64.b64decode(message["body"]), str(message["subject"])
    way = next((way for way in ways() if subject.startswith(way.subjects)), None)
    name = subject.split(".", 2)[2] if way else ""
    event = BY_NAME.get(name)
    try:
        envelope = Envelope.from_bytes(body)
    except (BadJson, ValidationError):
        return None
    if way is None or event is None:
        return None
    if await databases[way.reader].fetchval(IS_READ, way.reader, envelope.id):
        return False
    lane = event.lane if way.sender != "bridge" else f"{way.reader}.{event.lane}"
    row = _row(envelope, name, subject, lane, body, message["headers"])
    return await databases[way.sender].fetchval(PUT_BACK, *row) is not None


def _row(
    envelope: Envelope, name: str, subject: str, lane: str, body: bytes, headers: dict[str, str]
) -> tuple[Any, ...]:
    event_id: UUID = envelope.id
    about = None if BY_NAME[name].masses else envelope.subject
    seal = {HEADER: headers[HEADER]} if HEADER in headers else {}
    return event_id, name, subject, lane, about, envelope.key, envelope.keyversion, body, json.dumps(seal)


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.backup.doing.reconcile")
    parser.add_argument("--state", type=Path, required=True)
    state: Path = parser.parse_args().state
    run(lambda: say(result=asyncio.run(reconcile(state.resolve() / "run" / "pg", sys.stdin))))


if __name__ == "__main__":
    main()
