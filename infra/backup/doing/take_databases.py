"""All five databases at one point, as a tar on standard output. Runs as the database server's own OS user.

    python -m infra.backup.doing.take_databases --state DIR

The server is told that a backup begins; its files are copied while it works, and the write-ahead log from there to the end of the copying makes them whole:
whoever starts a server over both gets every database as it was at one moment, the end. Standard error: one JSON line per fact (`total`, `done`, at the end
`result`, or `failed`).
"""

import argparse
import asyncio
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import asyncpg

from infra.backup import entries
from infra.backup.doing.saying import Progress, run, say
from infra.postgres.provision import connect
from shared.errors import Refused
from shared.settings import DATABASES

ONE_AT_A_TIME = 8420_06
KEEP = "wal_keep_size"
LEFT_OUT = {
    "postmaster.pid", "postmaster.opts", "postgresql.auto.conf", "current_logfiles", "backup_label", "tablespace_map", "backup_manifest", "standby.signal", "recovery.signal",
}  # fmt: skip
EMPTY = {"pg_wal", "pg_dynshmem", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans"}
"""The server makes what is in them at its start; the folders themselves must be there."""
GATE = "SELECT seq, hash FROM core.gate_log ORDER BY seq DESC LIMIT 1"
DECIDED = "SELECT coalesce(max(position), 0) FROM core.decisions"
SIZES = "SELECT datname, pg_database_size(oid) AS size FROM pg_database WHERE datname = ANY ($1)"


@dataclass(frozen=True)
class Span:
    """The write-ahead log that the copy needs, in bytes of the log."""

    start: int
    stop: int
    timeline: int
    segment: int

    def names(self) -> list[str]:
        per_id = 0x1_0000_0000 // self.segment
        numbers = range(self.start // self.segment, (self.stop - 1) // self.segment + 1)
        return [f"{self.timeline:08X}{number // per_id:08X}{number % per_id:08X}" for number in numbers]


async def take(socket_dir: Path, out: BinaryIO) -> None:
    admin = await connect(socket_dir, "postgres")
    try:
        if not await admin.fetchval("SELECT pg_try_advisory_lock($1)", ONE_AT_A_TIME):
            raise Refused("another backup of this installation is being made; wait for it", code="running")
        async with _KeepLog(admin, Path(await admin.fetchval("SHOW data_directory"))):
            await _copy(admin, socket_dir, out)
    finally:
        await admin.close()


class _KeepLog:
    """No part of the write-ahead log is recycled while it may still be needed: at most a quarter of the free disk."""

    def __init__(self, admin: asyncpg.Connection, data: Path) -> None:
        self._admin, self._data = admin, data

    async def __aenter__(self) -> None:
        free = await asyncio.to_thread(_free_megabytes, self._data)
        await self._admin.execute(f"ALTER SYSTEM SET {KEEP} = '{max(256, min(free // 4, 64 * 1024))}MB'")
        await self._admin.execute("SELECT pg_reload_conf()")

    async def __aexit__(self, *_: object) -> None:
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self._admin.execute(f"ALTER SYSTEM RESET {KEEP}")
            await self._admin.execute("SELECT pg_reload_conf()")


async def _copy(admin: asyncpg.Connection, socket_dir: Path, out: BinaryIO) -> None:
    data = Path(await admin.fetchval("SHOW data_directory"))
    sizes = {row["datname"]: row["size"] for row in await admin.fetch(SIZES, list(DATABASES.values()))}
    say(total=sum(sizes.values()))
    progress = Progress()
    start = await admin.fetchval("SELECT pg_backup_start('schleuse', true)")
    await asyncio.to_thread(_files, data, out, progress)
    gate = await _asked(socket_dir, DATABASES["bridge"])
    ended = await admin.fetchrow("SELECT lsn, labelfile FROM pg_backup_stop(false)")
    assert ended is not None, "a row of two always comes"
    entries.add_bytes(out, "backup_label", ended["labelfile"].encode())
    span = Span(start, ended["lsn"], _timeline(ended["labelfile"]), await _segment(admin))
    await asyncio.to_thread(_log, data / "pg_wal", span, out, progress)
    entries.end(out)
    version = await admin.fetchval("SHOW server_version")
    say(result={"postgres": version, "databases": sizes, **gate})


def _files(data: Path, out: BinaryIO, progress: Progress) -> None:
    for name, path, is_folder in entries.walk(data, _is_left_out):
        if is_folder:
            entries.add_folder(out, name)
        else:
            entries.add_file(out, path, name, progress.add)


def _is_left_out(name: str) -> bool:
    head, _, rest = name.partition("/")
    last = name.rpartition("/")[2]
    return name in LEFT_OUT or (head in EMPTY and bool(rest)) or last.startswith(("pgsql_tmp", "pg_internal.init"))


def _log(folder: Path, span: Span, out: BinaryIO, progress: Progress) -> None:
    for name in span.names():
        if not (folder / name).exists():
            raise Refused(
                "more was written during the backup than the disk had room to keep; make room, or try again when less is going on",
                code="wal_gone",
            )
        entries.add_file(out, folder / name, f"pg_wal/{name}", progress.add)


async def _asked(socket_dir: Path, database: str) -> dict[str, int | str]:
    """Where the lock's record stands: not later than the point that the databases are restored to."""
    bridge = await connect(socket_dir, database)
    try:
        head = await bridge.fetchrow(GATE)
        decided = await bridge.fetchval(DECIDED)
    finally:
        await bridge.close()
    return {
        "gate_seq": head["seq"] if head else -1,
        "gate_hash": head["hash"] if head else "0" * 64,
        "decision_position": decided,
    }


def _timeline(label: str) -> int:
    found = [line for line in label.splitlines() if line.startswith("START TIMELINE:")]
    return int(found[0].partition(":")[2])


async def _segment(admin: asyncpg.Connection) -> int:
    return int(await admin.fetchval("SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'"))


def _free_megabytes(path: Path) -> int:
    return shutil.disk_usage(path).free // 1024**2


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.backup.doing.take_databases")
    parser.add_argument("--state", type=Path, required=True)
    state: Path = parser.parse_args().state
    run(lambda: asyncio.run(take(state.resolve() / "run" / "pg", sys.stdout.buffer)))


if __name__ == "__main__":
    main()
