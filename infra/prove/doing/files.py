"""Attempts on files, sockets and processes as an OS user: {"op", "path" or "pid"}. Whatever is made is removed at once."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROBE = ".prove-probe"


async def do(_: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_try(OPERATIONS[each["op"]], each.get("path") or str(each["pid"])) for each in attempts]


def _try(operation: Callable[[str], None], what: str) -> dict[str, Any]:
    try:
        operation(what)
    except PermissionError:
        return {"got": "refused"}
    except OSError as error:
        if error.errno == errno.EROFS:  # a container's image: nobody writes there
            return {"got": "refused"}
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    return {"got": "done"}


def _read(path: str) -> None:
    with Path(path).open("rb") as file:
        file.read(1)


def _write(path: str) -> None:
    with Path(path).open("ab"):
        """Opened for writing; nothing is written."""


def _list(path: str) -> None:
    os.listdir(path)  # noqa: PTH208 - iterdir would look only when it is asked for more


def _create(path: str) -> None:
    probe = Path(path) / f"{PROBE}-{os.getpid()}"
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    probe.unlink()


def _connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(3)
        client.connect(path)


def _signal(pid: str) -> None:
    os.kill(int(pid), 0)


def _memory(pid: str) -> None:
    with Path(f"/proc/{pid}/mem").open("rb"):
        """Opened; nothing is read."""


OPERATIONS: dict[str, Callable[[str], None]] = {
    "read": _read, "write": _write, "list": _list, "create": _create, "connect": _connect, "signal": _signal, "memory": _memory, "environment": lambda pid: _read(f"/proc/{pid}/environ"),
}  # fmt: skip
