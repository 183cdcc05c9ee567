"""`schleuse bench backup`: how long a backup and a restore of so many rows take, beside a plain tar of the same files in the same run."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infra.backup import keyfile
from infra.backup import take as taking
from infra.backup.restore import check, restore
from infra.backup.running import Machine
from infra.backup.sealing import Recipients, make_identity
from infra.bench.target import Say, Target, free_ports
from infra.local import identities
from infra.local.command import as_user
from infra.local.runtime import choose
from shared.errors import Refused

ROW_BYTES = 880
"""Of one row below with its indexes, as measured."""
FILL = """
INSERT INTO app.feedback (signal_id, item_key, path, at, text)
SELECT gen_random_uuid(), 'doc/en/bench', '/doc/en/bench', now() - i * interval '1 second',
  (SELECT string_agg(md5(i::text || j || random()::text), '') FROM generate_series(1, 20) AS j)
FROM generate_series({first}, {last}) AS i
"""
PORTION = 100_000
WHO = {"command": resource.RUSAGE_SELF, "largest_program": resource.RUSAGE_CHILDREN}


def measure(target: Target, gigabytes: float, say: Say) -> dict[str, Any]:
    """{"rows", "plain_bytes", "backup_s", "restore_s", "tar_s", "tar_copy_s", "peak_mib"}."""
    layout, who = target.layout, identities.resolve()
    machine = Machine(layout, who, choose(layout, *who.owner("site")))
    rows = int(gigabytes * 1024**3 / ROW_BYTES)
    say(f"writing {rows} rows")
    for first in range(1, rows + 1, PORTION):
        _sql(machine, FILL.format(first=first, last=min(first + PORTION - 1, rows)))
    _sql(machine, "CHECKPOINT")
    with _folder() as folder:
        recipients = Recipients([make_identity(folder / "identity")])
        keyfile.save(taking.source(layout.state), folder / "keys.age", recipients)
        say("tar of the same files")
        tar = _timed(lambda: _tar(machine, folder / "raw.tar"))
        (folder / "raw.tar").unlink()
        say("backup")
        made: dict[str, Any] = {}
        backup = _timed(lambda: made.update(taking.take(layout.state, folder / "backup", recipients, lambda _: None)))
        say("restore")
        again = _timed(lambda: _restore(folder))
    figures = {"rows": rows, "plain_bytes": made["plain_bytes"], "tar_s": tar, "backup_s": backup, "restore_s": again}
    return figures | {"peak_mib": {name: resource.getrusage(whose).ru_maxrss // 1024 for name, whose in WHO.items()}}


def _restore(folder: Path) -> None:
    checked = check(folder / "backup", folder / "keys.age", folder / "identity", lambda _: None)
    restore(checked, folder / "restored", free_ports(), lambda _: None)


def _sql(machine: Machine, statement: str) -> None:
    """As the superuser's OS user, in the console's database."""
    program = (
        "import asyncio, asyncpg, sys\n"
        "async def run():\n"
        "    found = await asyncpg.connect(host=sys.argv[1], user='pgadm', database='console_db')\n"
        "    await found.execute(sys.argv[2])\n"
        "    await found.close()\n"
        "asyncio.run(run())"
    )
    command = as_user(machine.who, "pgadm", [str(machine.runtime.python), "-c", program, str(machine.layout.pg_socket_dir), statement])  # fmt: skip
    with machine.popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        _, said = process.communicate()
    if process.returncode:
        raise Refused(f"the rows could not be written: {said.decode(errors='replace')[-300:]}")


def _tar(machine: Machine, into: Path) -> None:
    """What the disk and a plain copy reach: the same files, neither encrypted nor consistent, synced at the end."""
    command = as_user(
        machine.who, "pgadm", ["/bin/tar", "-cf", "-", "--warning=none", "-C", str(machine.layout.pg), "."]
    )
    with into.open("wb") as file, machine.popen(command, stdout=file, stderr=subprocess.DEVNULL) as process:
        process.wait()
        os.fsync(file.fileno())


def _timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 1)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="schleuse-bb-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
