"""The server's data folder from a tar on standard input. Runs as the database server's own OS user.

    python -m infra.backup.doing.put_databases --state DIR

Unpacked under another name and renamed when it is complete.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from infra.backup.doing.saying import run, say
from infra.backup.entries import fsync_folder, unpack
from infra.local.layout import Layout
from infra.postgres import locate
from shared.errors import Refused


def put(layout: Layout) -> None:
    data = layout.pg / f"data-{locate.major(locate.bin_folder())}"
    if data.exists():
        raise Refused(f"{data} exists already; a restore makes a new one only")
    for left in layout.pg.glob(f".new-{data.name}*"):
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".new-{data.name}-", dir=layout.pg))
    size = unpack(sys.stdin.buffer, new)
    (new / "postgresql.auto.conf").touch(mode=0o600)
    new.rename(data)
    fsync_folder(layout.pg)
    say(result={"bytes": size})


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.backup.doing.put_databases")
    parser.add_argument("--state", type=Path, required=True)
    os.umask(0o077)
    state: Path = parser.parse_args().state
    run(lambda: put(Layout(state.resolve())))


if __name__ == "__main__":
    main()
