"""A network of one's own, with another machine in it: nothing that is done there touches this one's. As root on Linux."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NEW_NETWORK = 0x40000000
HERE, THERE = ("10.222.0.1", "fd00:222::1"), ("10.222.0.2", "fd00:222::2")
PYTHON = str(Path(sys.executable).resolve())
NOBODY_ELSE = 61_917
"""Ids of no user."""
TRY = """
import socket, sys
host, port, by = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM if by == "tcp" else socket.SOCK_DGRAM) as out:
    out.settimeout(3)
    try:
        out.connect((host, port))
        if by == "udp":
            out.send(b"x")
    except OSError as error:
        sys.exit(f"{type(error).__name__}: {error}")
"""
ANSWER = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2])), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET) as door:
    print("listening", flush=True)
    while True:
        door.accept()[0].close()
"""


def missing() -> str:
    """Why there can be none here, or nothing."""
    if os.getuid() != 0:
        return "a network of one's own takes root"
    tools = [name for name in ("ip", "unshare", "nsenter") if shutil.which(name) is None]
    if tools:
        return f"not installed: {', '.join(tools)}"
    if not os.access(PYTHON, os.X_OK) or subprocess.run([PYTHON, "-I", "-c", ""], user=NOBODY_ELSE, check=False, cwd="/").returncode:  # fmt: skip
        return f"other users cannot run {PYTHON}"
    return ""


@dataclass(frozen=True)
class Network:
    """`pid` is of a process on the other machine."""

    pid: int

    def attempt(self, uid: int, host: str, port: int, by: str = "tcp") -> str:
        """As that user from here: empty when it went out, else why not."""
        command = [PYTHON, "-I", "-c", TRY, host, str(port), by]
        done = subprocess.run(command, user=uid, group=uid, extra_groups=[], capture_output=True, text=True, check=False, cwd="/")  # fmt: skip
        return done.stderr.strip()

    def from_there(self, host: str, port: int) -> str:
        """From the other machine."""
        command = ["nsenter", "-t", str(self.pid), "-n", PYTHON, "-I", "-c", TRY, host, str(port), "tcp"]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/").stderr.strip()

    @contextmanager
    def listening(self, host: str, port: int, *, uid: int = 0, there: bool = False) -> Iterator[None]:
        before = ["nsenter", "-t", str(self.pid), "-n"] if there else []
        with subprocess.Popen([*before, PYTHON, "-I", "-c", ANSWER, host, str(port)], user=uid, stdout=subprocess.PIPE, cwd="/") as server:  # fmt: skip
            try:
                assert server.stdout is not None
                assert server.stdout.readline() == b"listening\n"
                yield
            finally:
                server.kill()


@contextmanager
def own_network() -> Iterator[Network]:
    """For this thread and what it starts."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    _libc("unshare", NEW_NETWORK)
    try:
        with subprocess.Popen(["unshare", "--net", "sh", "-c", "echo there; exec sleep 600"], stdout=subprocess.PIPE) as other:  # fmt: skip
            try:
                assert other.stdout is not None
                other.stdout.readline()
                _cable(other.pid)
                yield Network(other.pid)
            finally:
                other.kill()
    finally:
        _libc("setns", before, NEW_NETWORK)
        os.close(before)


def _cable(pid: int) -> None:
    there = ["nsenter", "-t", str(pid), "-n"]
    _run(["ip", "link", "set", "lo", "up"])
    _run(["ip", "link", "add", "here0", "type", "veth", "peer", "name", "there0", "netns", str(pid)])
    _run([*there, "ip", "link", "set", "lo", "up"])
    for before, device, addresses in (([], "here0", HERE), (there, "there0", THERE)):
        _run([*before, "ip", "address", "add", f"{addresses[0]}/24", "dev", device])
        _run([*before, "ip", "address", "add", f"{addresses[1]}/64", "dev", device, "nodad"])
        _run([*before, "ip", "link", "set", device, "up"])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _libc(name: str, *arguments: int) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        raise OSError(ctypes.get_errno(), name)
