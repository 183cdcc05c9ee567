"""What the trial needs on the machine, and a podman of its own: its configuration, storage and networks lie in one folder that goes away."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = {
    "podman": "podman",
    "runc": "runc",
    "debootstrap": "debootstrap",
    "iptables": "iptables",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "/usr/lib/cni/dnsname": "golang-github-containernetworking-plugin-dnsname",
    "dnsmasq": "dnsmasq-base",
    "ip": "iproute2",
    "nsenter": "util-linux",
}
"""What is looked for -> the Debian package that brings it."""

CONTAINERS = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{home}/tmp"
volume_path = "{home}/volumes"
[network]
network_backend = "cni"
network_config_dir = "{home}/cni"
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{home}/storage"
runroot = "{home}/run"
"""


class Failed(Exception):
    """The trial did not come out as it must; the text says where."""


def install() -> list[str]:
    """Debian's packages that are missing; their names."""
    missing = sorted({package for what, package in PACKAGES.items() if not (shutil.which(what) or Path(what).exists())})
    if missing:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-qq", "update"], check=True, env=quiet)
        command = ["apt-get", "-qq", "-y", "install", "--no-install-recommends", *missing]
        subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
    return missing


def call(command: Sequence[str], environment: dict[str, str], patience: float) -> subprocess.CompletedProcess[str]:
    """Run a command in a group of its own, and end the whole group when we are interrupted or it takes too long."""
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip
    try:
        out, said = process.communicate(timeout=patience)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return subprocess.CompletedProcess(list(command), process.returncode, out, said)


@dataclass
class Podman:
    """`home` holds everything. Health checks are asked by us: podman would leave them to systemd."""

    home: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name, text in (("containers.conf", CONTAINERS), ("storage.conf", STORAGE)):
            (self.home / name).write_text(text.format(home=self.home))
        (self.home / "cni").mkdir()
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(self.home / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.home / "storage.conf"),
            "DISABLE_HC_SYSTEMD": "true",
        }

    def run(self, *arguments: str, check: bool = True, patience: float = 300) -> subprocess.CompletedProcess[str]:
        """A podman command. Failed with what it said."""
        done = call(["podman", *arguments], self.environment, patience)
        if check and done.returncode:
            raise Failed(f"podman {' '.join(arguments[:4])}: {(done.stderr or done.stdout).strip()[-1500:]}")
        return done

    def lines(self, *arguments: str) -> list[str]:
        return self.run(*arguments).stdout.split()

    def inspect(self, name: str) -> dict[str, object]:
        found: list[dict[str, object]] = json.loads(self.run("inspect", name).stdout)
        return found[0]

    def clear(self) -> list[str]:
        """Take away everything; what could not be taken away."""
        self.run("rm", "--all", "--force", "--time", "3", check=False)
        for name in self.run("network", "ls", "-q", check=False).stdout.split():
            self.run("network", "rm", "--force", name, check=False)
        self.run("umount", "--all", check=False)
        for _ in range(5):
            mounted = [
                line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if f" {self.home}/" in line
            ]
            for point in sorted(mounted, reverse=True):
                subprocess.run(["umount", "--lazy", point], check=False, capture_output=True)
            if not mounted:
                break
            time.sleep(0.2)
        shutil.rmtree(self.home, ignore_errors=True)
        return [str(self.home)] if self.home.exists() else []


def bridges() -> set[str]:
    """Network interfaces that podman makes."""
    return {path.name for path in Path("/sys/class/net").iterdir() if path.name.startswith("cni-podman")}


def firewall() -> list[str]:
    """The rules of iptables that container networks made."""
    said = subprocess.run(["iptables-save"], capture_output=True, text=True, check=False).stdout
    return [line for line in said.splitlines() if "CNI-" in line]


def tidy_firewall() -> None:
    """Chains that the plugins leave behind, empty. Only when there were none of their kind before."""
    said = subprocess.run(["iptables-save"], capture_output=True, text=True, check=False).stdout
    kept = "\n".join(line for line in said.splitlines() if "CNI-" not in line) + "\n"
    subprocess.run(["iptables-restore"], input=kept, text=True, check=False, capture_output=True)


def memory_of(pids: Sequence[int]) -> int:
    """Bytes, shared pages counted in parts."""
    found = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        found += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return found


def tree(pid: int) -> list[int]:
    """A process and everything below it."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, waiting = [], [pid]
    while waiting:
        each = waiting.pop()
        found.append(each)
        waiting += children.get(each, [])
    return found
