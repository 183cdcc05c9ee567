"""What an app's code reads: by a connection of the app's own role, in a transaction that only reads, with a limit to everything."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from services.console.apps.declared import quoted
from services.console.apps.domain import InstalledApp
from services.console.apps.store import limited
from shared.apps.frames import MAX_ANSWER, MAX_ROWS, Frame
from shared.apps.values import from_json
from shared.errors import Refused, Transient
from shared.settings import Settings

SECONDS = 10.0
LONGEST = 20_000
"""Characters of a statement."""
WIDEST = 256 * 1024
"""Characters of one row as JSON; a wider one is refused in the database already."""
_READS = re.compile(r"\s*(select|with|values|table)\b", re.IGNORECASE)


class OwnRows:
    """Of one app, for one page or job. The connection is opened when it is first needed."""

    def __init__(self, settings: Settings, app: InstalledApp) -> None:
        self._settings, self._app = settings, app
        self._connection: Any = None

    async def query(self, frame: Frame) -> Frame:
        """{"op": "rows", "rows": [JSON texts], "types": {column: type}}. Refused, in the database's words, for what does not work."""
        sql, values = _checked(frame)
        connection = await self._open()
        try:
            async with asyncio.timeout(SECONDS):
                return await self._read(connection, sql, values)
        except TimeoutError:
            connection.terminate()
            self._connection = None
            raise Refused(f"The query took longer than {SECONDS:g} s.") from None
        except asyncpg.PostgresError as error:
            raise Refused(f"The database did not do it: {error}") from None
        except (asyncpg.InterfaceError, ValueError, TypeError) as error:
            raise Refused(f"The query's values do not fit: {error}") from None

    async def _read(self, connection: Any, sql: str, values: list[Any]) -> Frame:
        async with connection.transaction(readonly=True):
            await connection.execute("SELECT 1")  # from here on the transaction cannot be made a writing one
            named = await connection.prepare(sql)
            types = {each.name: each.type.name for each in named.get_attributes()}
            if len(types) < len(named.get_attributes()):
                raise Refused("Two columns of the query have the same name; give one another.")
            wrapped = limited(sql, WIDEST, MAX_ROWS + 1)
            rows, size = [], 0
            async for row in connection.cursor(wrapped, *values, prefetch=200):
                size += len(row[0] or "")
                rows.append(row[0])
                if row[0] is None or size > MAX_ANSWER or len(rows) > MAX_ROWS:
                    raise Refused(
                        f"The answer is too large: {MAX_ROWS:,} rows and {MAX_ANSWER // 1024 // 1024} MiB are the most, {WIDEST // 1024} KiB for one row."
                    )
        return {"op": "rows", "rows": rows, "types": types}

    async def write(self, frame: Frame) -> Frame:
        raise Refused("A page reads only; rows are written in a job.")

    async def _open(self) -> Any:
        if self._connection is None:
            settings = self._settings
            try:
                self._connection = await asyncpg.connect(
                    host=str(settings.pg_socket_dir),
                    user=self._app.role,
                    database=settings.database,
                    timeout=10,
                    server_settings={
                        "application_name": f"schleuse app {self._app.slug}",
                        "timezone": "UTC",
                        "search_path": quoted(self._app.schema_name),
                    },
                )
            except (asyncpg.PostgresError, OSError, TimeoutError) as error:
                raise Transient(f"The app's role cannot log in to the database: {error}", code="apps") from None
        return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


@asynccontextmanager
async def own_rows(settings: Settings, app: InstalledApp) -> AsyncIterator[OwnRows]:
    found = OwnRows(settings, app)
    try:
        yield found
    finally:
        await found.close()


def _checked(frame: Frame) -> tuple[str, list[Any]]:
    sql, values = str(frame.get("sql", "")).strip().rstrip(";"), frame.get("values")
    if not _READS.match(sql) or len(sql) > LONGEST or "\x00" in sql:
        raise Refused(f"A query is one SELECT of at most {LONGEST:,} characters.")
    try:
        return sql, [from_json(each) for each in values or []]
    except (ValueError, TypeError, ArithmeticError, json.JSONDecodeError) as error:
        raise Refused(f"The query's values cannot be read: {error}") from None
