"""Operator commands on parked events: list, show, replay through the same handler, drop. The same in every service."""

import json
from typing import Any

import asyncpg

from shared.bus.received import Reader
from shared.db.engine import Database
from shared.errors import NotFound, Permanent, Refused
from shared.inbox.apply import Applier

_LIST = """
SELECT id, event_id::text, name, subject, reason, attempts, parked_at, part IS NOT NULL AS is_part, length(body) AS bytes
  FROM app.parked WHERE resolved_at IS NULL ORDER BY id LIMIT 1000
"""
_ROW = """
SELECT id, event_id, name, subject, headers::text AS headers, body, part, reason, attempts, parked_at, resolved_at, resolution
  FROM app.parked WHERE id = $1
"""
_LOCK = f"{_ROW} AND resolved_at IS NULL FOR UPDATE"
_RESOLVE = (
    "UPDATE app.parked SET resolved_at = clock_timestamp(), resolution = $2 WHERE id = $1 AND resolved_at IS NULL"
)


def _wire(row: asyncpg.Record) -> dict[str, Any]:
    found = dict(row.items())
    for name, value in found.items():
        if isinstance(value, bytes):
            found[name] = value.decode("utf-8", "backslashreplace")
        elif not isinstance(value, str | int | bool | None):
            found[name] = str(value)
    return found


def _number(args: dict[str, Any]) -> int:
    """The number asked for; NotFound when nothing can have it."""
    try:
        number = int(args["id"])
    except (KeyError, TypeError, ValueError):
        number = -1
    if not 0 <= number < 2**63:
        raise NotFound(f"nothing is parked under {str(args.get('id'))[:40]}")
    return number


class ParkedDesk:
    """`parked.*` verbs. A replay runs the handler again in one transaction with marking the row as resolved."""

    def __init__(self, db: Database, applier: Applier | None, reader: Reader | None) -> None:
        self._db, self._applier, self._reader = db, applier, reader

    async def list(self, _: dict[str, Any]) -> dict[str, Any]:
        """{"parked": [{"id","event_id","name","subject","reason","attempts","parked_at","is_part","bytes"}]}."""
        async with self._db.reading() as tx:
            return {"parked": [_wire(row) for row in await tx.raw.fetch(_LIST)]}

    async def show(self, args: dict[str, Any]) -> dict[str, Any]:
        async with self._db.reading() as tx:
            row = await tx.raw.fetchrow(_ROW, _number(args))
        if row is None:
            raise NotFound(f"nothing is parked under {args['id']}")
        return {"parked": _wire(row)}

    async def replay(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"replayed": id}. The handler's own error when it fails again; the row then stays parked."""
        if self._applier is None or self._reader is None:
            raise Refused("this service reads no events")
        async with self._db.transaction() as tx:
            row = await tx.raw.fetchrow(_LOCK, _number(args))
            if row is None:
                raise NotFound(f"nothing is parked under {args['id']}")
            if row["part"] is not None:
                raise Refused(
                    "this is a part of an event whose rest was handled; drop it, or send it again at its source"
                )
            event = self._read(row)
            await self._applier.prepare([event])
            await self._applier.dispatch(tx, [event])
            await tx.raw.execute(_RESOLVE, row["id"], "replayed")
        return {"replayed": int(args["id"])}

    def _read(self, row: asyncpg.Record) -> Any:
        assert self._reader is not None
        try:
            return self._reader.read(row["subject"], json.loads(row["headers"]), row["body"])
        except Permanent as error:
            raise Refused(f"it still cannot be read: {error.message}") from error

    async def drop(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"dropped": id}. The row stays as a record that it was dropped."""
        async with self._db.transaction() as tx:
            if await tx.raw.execute(_RESOLVE, _number(args), "dropped") != "UPDATE 1":
                raise NotFound(f"nothing is parked under {args['id']}")
        return {"dropped": int(args["id"])}

    async def count(self) -> int:
        async with self._db.reading() as tx:
            return int(await tx.raw.fetchval("SELECT count(*) FROM app.parked WHERE resolved_at IS NULL"))
