"""Which files this process may read: Python's own, and nothing else; none that is written. Where the kernel has Landlock (5.13 and newer)."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_NO_NETWORK, _NO_SIGNALS = 3, 3
READABLE = (
    "/usr/lib",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/dev/null",
    "/dev/urandom",
)
_LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """0 where the kernel has none."""
    return max(int(_LIBC.syscall(_CREATE, None, 0, _VERSION)), 0)


def shut_in(more: Iterable[Path] = ()) -> bool:
    """For this process and for good. False where the kernel has no Landlock. `no_new_privs` must be set."""
    known = version()
    if not known:
        return False
    rights = _RIGHTS[max(each for each in _RIGHTS if each <= known)]
    fields = [rights, *((_NO_NETWORK,) if known >= 4 else ()), *((_NO_SIGNALS,) if known >= 6 else ())]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _call(_CREATE, attributes, len(attributes), 0)
    try:
        for path in dict.fromkeys([*map(Path, READABLE), *_python(), *more]):
            _allow(ruleset, path)
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def _python() -> Iterable[Path]:
    return (Path(each).resolve() for each in (*sys.path, sys.prefix, sys.base_prefix) if each)


def _allow(ruleset: int, path: Path) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ_FILE | (_READ_DIR if path.is_dir() else 0)
        _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    answer = int(_LIBC.syscall(number, *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), "the kernel does not limit what this process reads")
    return answer
