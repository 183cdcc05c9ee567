"""How Postgres is doing, and where the two chains stand: {"slow": bool}. Connections stay open between two tasks, for one is asked every few seconds.

`value`: {"connections": {role: [used, limit]}, "used", "limit", "oldest_transaction": seconds or None, "gate": CHAIN, "audit": CHAIN} and, when slow, "sizes":
{database: bytes}; CHAIN is {"seq": newest or None, "age": seconds or None, "whole": bool or None}: every entry names the one before it and hashes to what it says.
`whole` is None until all entries have been looked at; each is looked at once. What could not be had is missing.
"""

from pathlib import Path
from typing import Any

import asyncpg

from infra.postgres.settings import SUPERUSER
from shared.settings import DATABASES

PATIENCE = 1.5
STEP = 20_000
_ACTIVITY = """
SELECT r.rolname, r.rolconnlimit, count(a.pid), max(extract(epoch FROM clock_timestamp() - a.xact_start)) FILTER (WHERE a.pid <> pg_backend_pid())
  FROM pg_roles r LEFT JOIN pg_stat_activity a ON a.usesysid = r.oid AND a.backend_type = 'client backend'
 WHERE r.rolcanlogin GROUP BY 1, 2"""
_SIZES = "SELECT datname, pg_database_size(oid) FROM pg_database WHERE datallowconn"
_LIMIT = "SELECT current_setting('max_connections')::int"
CHAINS = {
    "gate": ("bridge", "core.gate_log", "at"),
    "audit": ("connectors", "core.call_audit", "noted_at"),
}
_NEWEST = "SELECT seq, extract(epoch FROM clock_timestamp() - {at}) FROM {table} ORDER BY seq DESC LIMIT 1"
_CHECK = """
SELECT count(*), max(seq), (array_agg(hash ORDER BY seq DESC))[1], bool_and(hash = encode(sha256(entry), 'hex') AND previous = before AND seq = place)
  FROM (SELECT seq, hash, previous, entry, coalesce(lag(hash) OVER w, $2) AS before, $1 + row_number() OVER w AS place
          FROM {table} WHERE seq > $1 WINDOW w AS (ORDER BY seq) ORDER BY seq LIMIT $3) s"""
FIRST = (-1, "0" * 64)


class Chain:
    """How far a chain was looked at. A fault stays one."""

    def __init__(self) -> None:
        self.seq, self.head = FIRST
        self.broken = False

    async def look(self, connection: asyncpg.Connection, table: str, at: str) -> dict[str, Any]:
        newest = await connection.fetchrow(_NEWEST.format(table=table, at=at), timeout=PATIENCE)
        checked = await connection.fetchrow(_CHECK.format(table=table), self.seq, self.head, STEP, timeout=PATIENCE)
        count, seq, head, whole = checked or (0, self.seq, self.head, True)
        if count:
            self.seq, self.head, self.broken = seq, head, self.broken or not whole
        done = newest is None or self.seq >= newest[0]
        if newest is not None and newest[0] < self.seq:
            self.broken = True  # the tail was cut off
        known = None if not (self.broken or done) else not self.broken
        return {"seq": newest[0] if newest else None, "age": float(newest[1]) if newest else None, "whole": known}


class Pulse:
    """One connection for each database that is asked."""

    def __init__(self) -> None:
        self._connections: dict[str, asyncpg.Connection] = {}
        self._chains = {name: Chain() for name in CHAINS}

    async def read(self, state: Path, *, slow: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        server = await self._connection(state, "postgres")
        rows = await server.fetch(_ACTIVITY, timeout=PATIENCE)
        found["connections"] = {name: [used, limit if limit >= 0 else None] for name, limit, used, _ in rows}
        found["used"] = sum(used for _, _, used, _ in rows)
        found["limit"] = await server.fetchval(_LIMIT, timeout=PATIENCE)
        found["oldest_transaction"] = max((float(age) for *_, age in rows if age is not None), default=0.0)
        for name, (service, table, at) in CHAINS.items():
            connection = await self._connection(state, DATABASES[service])
            found[name] = await self._chains[name].look(connection, table, at)
        if slow:
            found["sizes"] = {row[0]: row[1] for row in await server.fetch(_SIZES, timeout=10)}
        return found

    async def _connection(self, state: Path, database: str) -> asyncpg.Connection:
        held = self._connections.get(database)
        if held is None or held.is_closed():
            held = await asyncpg.connect(
                host=str(state / "run" / "pg"), user=SUPERUSER, database=database, timeout=PATIENCE,
                server_settings={"application_name": "schleuse top"},
            )  # fmt: skip
            self._connections[database] = held
        return held

    def drop(self) -> None:
        """After something went wrong: the next task begins with new connections."""
        for connection in self._connections.values():
            connection.terminate()
        self._connections.clear()


_PULSE = Pulse()


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _read(state, slow=each["slow"]) for each in attempts]


async def _read(state: Path, *, slow: bool) -> dict[str, Any]:
    try:
        return {"got": "done", "value": await _PULSE.read(state, slow=slow)}
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        _PULSE.drop()
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"[:200], "value": {}}
