"""Becomes the Postgres server. Runs as the server's own OS user, so root never touches the data folder.

    python -m infra.postgres.launch --state DIR

Makes the data folder if there is none (under another name, renamed when complete), writes the settings, clears what a killed server left, and then execs
the server. Exit code 78: it will not work by trying again; the last line on standard error says why.
"""

import argparse
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.local.config import Config, read
from infra.local.layout import Layout
from infra.postgres import locate, settings
from shared.errors import Refused

HOPELESS = 78
LEFT_BEHIND_SECONDS = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="infra.postgres.launch")
    parser.add_argument("--state", type=Path, required=True)
    os.umask(0o077)
    try:
        command = prepare(Layout(parser.parse_args().state.resolve()))
    except (Refused, OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{_explain(error)}\n")
        raise SystemExit(HOPELESS) from None
    os.execv(command[0], command)  # noqa: S606 - the located server


def prepare(layout: Layout) -> list[str]:
    """Make everything ready; the command that runs the server."""
    config = read(layout)
    if config is None:
        raise Refused(f"{layout.state} is no state directory")
    programs = locate.bin_folder()
    version = locate.major(programs)
    data = layout.pg / f"data-{version}"
    _refuse_other_version(layout.pg, data)
    with _alone(layout.pg):
        if not data.exists():
            _initialise(programs, data)
    write_settings(layout, config, data)
    end_left_behind(data)
    return [str(programs / "postgres"), "-D", str(data)]


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """One that outlived a killed set-up finishes first: two would clear away each other's files, and put a cluster in place that lacks some."""
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _initialise(programs: Path, data: Path) -> None:
    """In a folder of its own: an initdb that outlived a killed set-up may still be writing into, or clearing away, its one."""
    for left in data.parent.glob(f".new-{data.name}*"):
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".new-{data.name}-", dir=data.parent))
    command = [
        str(programs / "initdb"),
        "-D",
        str(new),
        "-U",
        settings.SUPERUSER,
        "--auth=peer",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--data-checksums",
    ]
    clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)  # noqa: S603 - located server
    if done.returncode:
        shutil.rmtree(new, ignore_errors=True)
        raise Refused(f"making the database cluster failed: {_last_line(done.stderr)}")
    new.rename(data)


def write_settings(layout: Layout, config: Config, data: Path) -> None:
    server_user = config.users["pgadm"]
    mapped = not config.os_separation
    others = sorted({config.users["console"], server_user})
    group_needed = server_user != config.users["console"]
    _replace(data / "schleuse.conf", settings.server_conf(layout, separated=group_needed))
    _replace(data / "pg_hba.conf", settings.hba_conf(mapped=mapped))
    _replace(data / "pg_ident.conf", settings.ident_conf(others if mapped else [], config.users["console"]))
    _replace(data / "postgresql.conf", "include 'schleuse.conf'\n")
    _replace(data / "postgresql.auto.conf", "")


def end_left_behind(data: Path) -> None:
    """End server processes that outlived their parent, and drop a lock file whose process is no server of this folder.

    A killed server's children go by themselves within moments; until then they hold the shared memory and a new server refuses to start.
    """
    deadline = time.monotonic() + LEFT_BEHIND_SECONDS
    while left := _processes_in(data):
        if time.monotonic() > deadline:
            _signal(left, signal.SIGKILL)
        elif time.monotonic() > deadline - LEFT_BEHIND_SECONDS / 2:
            _signal(left, signal.SIGQUIT)
        time.sleep(0.05)
    (data / "postmaster.pid").unlink(missing_ok=True)


def _processes_in(data: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if entry.joinpath("cwd").readlink() == data:
                    found.append(int(entry.name))
            except OSError:  # gone, or another user's
                continue
    return found


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _refuse_other_version(place: Path, data: Path) -> None:
    others = sorted(path.name for path in place.glob("data-*") if path != data)
    if others and not data.exists():
        raise Refused(
            f"{place} holds {', '.join(others)}, made by another PostgreSQL version than the one found ({data.name.removeprefix('data-')}). "
            "Set PG_BIN to the bin folder of that version; nothing was changed.",
        )


def _replace(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)


def _explain(error: Exception) -> str:
    if isinstance(error, Refused):
        return error.message
    return f"{pwd.getpwuid(os.getuid()).pw_name} cannot prepare the Postgres server: {error}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    problem = [line for line in lines if "error" in line.lower() or "fatal" in line.lower() or "No space" in line]
    return (problem or lines or ["no message"])[-1].strip()


if __name__ == "__main__":
    main()
