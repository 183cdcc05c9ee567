"""Which addresses a process listens on and when it began, from /proc: what it really does, not what it was told."""

import os
import socket
import struct
from pathlib import Path

LISTEN, UNCONNECTED = "0A", "07"
TABLES = (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6), ("udp", socket.AF_INET), ("udp6", socket.AF_INET6))


def listens(pid: int) -> list[str]:
    """`address:port` of each TCP socket that this process listens on. Its own user can always look; root only where it may look into any process."""
    mine = _sockets(pid)
    return sorted(address for inode, address in _listening().items() if inode in mine)


def listeners(place: str) -> list[int]:
    """Process ids that listen on `address:port`, of those into which we may look."""
    inodes = {inode for inode, address in _listening().items() if address == place}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if _sockets(int(process.name)) & inodes:
                found.append(int(process.name))
        except OSError:  # gone, or not ours to see
            continue
    return sorted(found)


def started_at(pid: int) -> float:
    """Seconds since the epoch."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    booted = next(
        int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime ")
    )
    return booted + ticks / os.sysconf("SC_CLK_TCK")


def _sockets(pid: int) -> set[str]:
    found = set()
    for handle in os.scandir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(handle.path)  # noqa: PTH115 - Path.readlink would take the text for a path
        except FileNotFoundError:
            continue
        if link.startswith("socket:["):
            found.add(link[8:-1])
    return found


def _listening() -> dict[str, str]:
    found = {}
    for table, family in TABLES[:2]:
        path = Path(f"/proc/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            if fields[3] == LISTEN:
                found[fields[9]] = _address(fields[1], family)
    return found


def _address(text: str, family: socket.AddressFamily) -> str:
    """`0100007F:1F90` -> `127.0.0.1:8080`; each 32-bit word is in the machine's byte order."""
    raw, port = text.split(":")
    words = (int(raw[at : at + 8], 16) for at in range(0, len(raw), 8))
    packed = b"".join(struct.pack("=I", word) for word in words)
    return f"{socket.inet_ntop(family, packed)}:{int(port, 16)}"


def listening_by_uid() -> dict[int, set[str]]:
    """`address:port` of every TCP socket on this machine that is listened on, by the OS user that opened it; UDP ones as `udp address:port`."""
    found: dict[int, set[str]] = {}
    for table, family in TABLES:
        path = Path(f"/proc/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            is_udp = table.startswith("udp")
            if fields[3] == (UNCONNECTED if is_udp else LISTEN):
                address = _address(fields[1], family)
                found.setdefault(int(fields[7]), set()).add(f"udp {address}" if is_udp else address)
    return found
