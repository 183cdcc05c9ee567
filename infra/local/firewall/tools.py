"""Running the firewall's own programs."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from shared.errors import Refused

FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")
PATIENCE_S = 10


def find(name: str) -> str | None:
    """Where the distribution puts it; the caller's PATH does not count for what runs as root."""
    return next((str(path) for folder in FOLDERS if (path := Path(folder) / name).exists()), None)


def run(command: Sequence[str], given: str = "") -> str:
    """What it printed. Refused (code `firewall`) when it failed."""
    try:
        done = subprocess.run(  # noqa: S603 - a tool of the distribution with words of ours
            command, input=given, capture_output=True, text=True, check=False, timeout=PATIENCE_S, env={"PATH": ":".join(FOLDERS), "LC_ALL": "C"}
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{Path(command[0]).name} could not be run: {error}", code="firewall") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[0]
        raise Refused(f"{Path(command[0]).name} says: {said[:300]}", code="firewall")
    return done.stdout
