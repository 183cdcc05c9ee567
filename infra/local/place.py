"""Where the state really lies, and holding it for one supervisor at a time."""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

from infra.local import folders
from infra.local.identities import Identities
from infra.local.layout import Layout
from shared.errors import Refused

ELSEWHERE = Path("/var/lib/schleuse")
LONGEST_SOCKET = 107
OURS = {"config.json", ".lock", "keys", "run", "tls", "nats", "pg", "logs", "runtime", "secrets", "workspace", "spool"}


def settle(named: Path, who: Identities) -> Layout:
    """Make the state directory, or its stand-in under /var/lib when the services' users could not enter it. Refused for a foreign folder."""
    if not named.is_symlink() and not named.exists():
        named.mkdir(parents=True, mode=0o755)
    real = named.resolve()
    if not real.is_dir():
        raise Refused(f"{named} is not a folder", code="state")
    if not (real / "config.json").exists():
        _refuse_foreign(real)
        if who.switching and not _enterable(real, who):
            real = _move_elsewhere(named, real)
    if real.stat().st_uid != os.getuid():
        raise Refused(
            f"{real} belongs to another user; run it as that user, or name another folder with --state", code="state"
        )
    folders.check_folder(real, 0o755, (os.getuid(), os.getgid()))
    _refuse_open_parents(real)
    socket = real / "run" / "pg" / ".s.PGSQL.5432"
    if len(str(socket)) > LONGEST_SOCKET:
        raise Refused(
            f"{real} is too long a path: sockets below it would pass {LONGEST_SOCKET} bytes. Name a shorter one with --state.",
            code="state_path",
        )
    return Layout(real)


def hold(layout: Layout) -> int:
    """Lock the state directory for this process; the returned descriptor holds the lock until it is closed. Refused while another has it."""
    handle = os.open(layout.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Refused(
            f"{layout.state} is already running; see `schleuse status`, or stop it with `schleuse down`", code="running"
        ) from None
    return handle


def held(layout: Layout) -> bool:
    """Whether a supervisor runs on this state directory."""
    try:
        handle = os.open(layout.lock, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def _refuse_foreign(real: Path) -> None:
    strangers = sorted(
        entry.name for entry in real.iterdir() if entry.name not in OURS and not entry.name.startswith(".new-")
    )
    if strangers:
        raise Refused(
            f"{real} is not empty and no state directory ({', '.join(strangers[:3])}, …); name another with --state",
            code="state",
        )


def _refuse_open_parents(real: Path) -> None:
    """Nobody else may be able to put another folder in its place."""
    for parent in real.parents:
        found = parent.stat()
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            raise Refused(
                f"everybody can write to {parent}: whoever does could replace the state directory", code="state"
            )


def _enterable(real: Path, who: Identities) -> bool:
    uid, gid = who.owner("pgadm")
    setpriv = shutil.which("setpriv") or "/usr/bin/setpriv"
    command = [setpriv, f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--", "/usr/bin/test", "-x", str(real)]
    return subprocess.run(command, capture_output=True, check=False, cwd="/").returncode == 0  # noqa: S603 - fixed tools


def _move_elsewhere(named: Path, real: Path) -> Path:
    target = ELSEWHERE / hashlib.sha256(str(real).encode()).hexdigest()[:12]
    target.mkdir(parents=True, mode=0o755, exist_ok=True)
    ELSEWHERE.chmod(0o755)  # an earlier start may have made it under a closed umask
    for entry in real.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    real.rmdir()
    new = named.with_name(f".new-{named.name}")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.rename(named)
    return target
