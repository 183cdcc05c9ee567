"""What a container is, as seen from inside: users, capabilities, root, networks. Standard library only.

Each container writes them to DIR/run/PART/container.json at its start and at every health check, where `schleuse prove` reads them. They are the
container's own word; that it is the right uid who says so, the kernel confirms by the file's owner.
"""

import json
import os
import socket
import struct
import time
from pathlib import Path
from typing import Any

NAME = "container.json"
ROUTES = Path("/proc/net/route")
LISTENING = "0A"
WRITABLE_BY_DESIGN = ("/proc", "/sys", "/dev")


def gather() -> dict[str, Any]:
    """{"uid", "gid", "groups", "capabilities", "no_new_privileges", "seccomp", "read_only_root", "writable", "way_out", "listens", "at"}."""
    status = _status()
    return {
        "uid": sorted({int(each) for each in status["Uid"].split()}),
        "gid": sorted({int(each) for each in status["Gid"].split()}),
        "groups": sorted(int(each) for each in status["Groups"].split()),
        "capabilities": {name: int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")},
        "no_new_privileges": status.get("NoNewPrivs") == "1",
        "seccomp": status.get("Seccomp") == "2",
        "read_only_root": _read_only("/"),
        "writable": _writable_mounts(),
        "way_out": _has_default_route(),
        "listens": _listening(),
        "at": time.time(),
    }


def write(folder: Path, facts: dict[str, Any]) -> None:
    """In one step, so that whoever reads sees all of it."""
    new = folder / f".new-{NAME}"
    new.write_text(json.dumps(facts))
    new.chmod(0o644)
    new.replace(folder / NAME)


def _status() -> dict[str, str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _read_only(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _writable_mounts() -> list[str]:
    """Mount points that can be written to and last: without memory and the kernel's own file systems."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        point, options = fields[4], fields[5].split(",")
        kind = fields[fields.index("-") + 1]
        if "rw" in options and kind != "tmpfs" and not point.startswith(WRITABLE_BY_DESIGN):
            found.append(point)
    return sorted(found)


def _has_default_route() -> bool:
    """Without one nothing leaves the networks that the container is on."""
    v4 = any(line.split()[1] == "00000000" for line in ROUTES.read_text().splitlines()[1:])
    v6 = Path("/proc/net/ipv6_route")
    lines = v6.read_text().splitlines() if v6.exists() else []
    return v4 or any(
        fields[0] == "0" * 32 and fields[1] == "00" and fields[9] != "lo" for fields in map(str.split, lines)
    )


def _listening() -> list[str]:
    """address:port of every TCP listener in this network namespace."""
    found = []
    for table, family in (("/proc/net/tcp", socket.AF_INET), ("/proc/net/tcp6", socket.AF_INET6)):
        path = Path(table)
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            fields = line.split()
            if fields[3] == LISTENING:
                address, port = fields[1].rsplit(":", 1)
                found.append(f"{_address(address, family)}:{int(port, 16)}")
    return sorted(found)


def _address(text: str, family: socket.AddressFamily) -> str:
    words = [struct.pack("=I", int(text[start : start + 8], 16)) for start in range(0, len(text), 8)]
    return socket.inet_ntop(family, b"".join(words))
