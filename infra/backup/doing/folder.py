"""A folder of one of the services as a tar, out or in: the workspace, the sealed secrets. Runs as the OS user that owns it.

    python -m infra.backup.doing.folder take|put FOLDER

An age identity that lies in it is left out, and said (S12): a backup never holds what opens it.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from infra.backup import entries
from infra.backup.doing.saying import Progress, run, say
from infra.backup.sealing import SECRET
from services.agent.files.domain import PART

LOOKED_AT = 64 * 1024


def take(folder: Path) -> None:
    out, progress, left_out = sys.stdout.buffer, Progress(), []
    for name, path, is_folder in entries.walk(folder, _is_coming):
        if is_folder:
            entries.add_folder(out, name)
        elif _is_identity(path):
            left_out.append(name)
        else:
            entries.add_file(out, path, name, progress.add)
    entries.end(out)
    say(result={"left_out": left_out})


def put(folder: Path) -> None:
    say(result={"bytes": entries.unpack(sys.stdin.buffer, folder)})


def _is_coming(name: str) -> bool:
    """A file that is being put in has no name yet, and is gone when it gets one."""
    return name.rpartition("/")[2].startswith(PART)


def _is_identity(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        return SECRET.encode() in file.read(LOOKED_AT)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.backup.doing.folder")
    parser.add_argument("what", choices=("take", "put"))
    parser.add_argument("folder", type=Path)
    os.umask(0o077)
    given = parser.parse_args()
    run(lambda: (take if given.what == "take" else put)(given.folder))


if __name__ == "__main__":
    main()
