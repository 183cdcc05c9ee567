"""What an app's job writes: by the same ways as people's changes, so that types are checked, history kept and the leak guard told."""

from dataclasses import dataclass
from typing import Any

from services.console.apps.domain import InstalledApp
from services.console.apps.own_rows import OwnRows
from services.console.records.domain import shape_of
from services.console.records.usecases.add_records import add_records
from services.console.records.usecases.change_record import change_record
from services.console.records.usecases.delete_records import delete_records
from services.console.records.values import show_value
from shared.apps.frames import Frame
from shared.apps.values import from_json
from shared.db import Database
from shared.errors import Conflict, NotFound, Refused

MOST = 1000
"""Rows of one write."""


@dataclass(frozen=True)
class Code:
    """Who the history says it was."""

    id: str
    name: str


class OwnWrites:
    """Reads like a page, and writes."""

    def __init__(self, db: Database, app: InstalledApp, rows: OwnRows, job: str) -> None:
        self._db, self._app, self._rows = db, app, rows
        self._by = Code(f"app:{app.slug}", f"{app.slug}: {job}")

    async def query(self, frame: Frame) -> Frame:
        return await self._rows.query(frame)

    async def write(self, frame: Frame) -> Frame:
        """{"op": "rows"} with the keys, as texts, of what was written."""
        rows = frame.get("rows")
        if not isinstance(rows, list) or len(rows) > MOST or not all(isinstance(each, dict) for each in rows):
            raise Refused(f"A write has at most {MOST:,} rows.")
        try:
            keys = await self._write(str(frame.get("do")), str(frame.get("table")), rows)
        except (NotFound, Conflict) as error:
            raise Refused(error.message) from None
        except (ValueError, TypeError, ArithmeticError, KeyError) as error:
            raise Refused(f"The values cannot be read: {error}") from None
        return {"op": "rows", "rows": keys, "types": {}}

    async def _write(self, what: str, table: str, rows: list[dict[str, Any]]) -> list[str]:
        shape = shape_of(self._app, table)
        async with self._db.transaction() as tx:
            match what:
                case "add":
                    await add_records(tx, self._app, table, [_texts(each) for each in rows], self._by, "job")
                case "change":
                    for each in rows:
                        key = shape.key_of({name: from_json(value) for name, value in each["key"].items()})
                        await change_record(tx, self._app, table, key, _texts(each["values"]), self._by, "job")
                case "delete":
                    keys = [shape.key_of({name: from_json(value) for name, value in each.items()}) for each in rows]
                    await delete_records(tx, self._app, table, keys, self._by, "job")
                case _:
                    raise Refused("A write adds, changes or deletes.")
        return []


def _texts(row: dict[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else show_value(from_json(value)) for name, value in row.items()}
