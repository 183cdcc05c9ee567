"""docker-compose.yml, brought up: commands of compose, health, one container's facts from outside."""

import json
import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.docker import rules
from tests.compose.trial.machine import ROOT, Failed, Podman, call, memory_of, tree

RUNNING = ("postgres", "nats", "keeper", "bridge", "console", "site", "agent", "connectors", "nginx")
HEALTHY_SECONDS = 420.0
SOMEWHERE = ("192.0.2.1", 443)
"""Nobody's address: what counts is whether there is a way to it."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_net() -> str:
    """Two numbers that no interface of this machine uses."""
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    used = {bytes.fromhex(line.split()[1])[::-1][:2] for line in routes}
    return next(f"10.{number}" for number in range(84, 200) if bytes([10, number]) not in used)


@dataclass
class System:
    podman: Podman
    tool: Path
    project: str
    port: int
    net: str

    @property
    def environment(self) -> dict[str, str]:
        wishes = {
            "SCHLEUSE_PORT": str(self.port),
            "SCHLEUSE_NET": self.net,
            "SCHLEUSE_ADDRESS": "127.0.0.1",
            "COMPOSE_PROFILES": "",
        }
        return {**self.podman.environment, **wishes}

    def compose(
        self, *arguments: str, check: bool = True, patience: float = 900, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """A command of compose on the file. Failed with the last of what it said."""
        files = ["-f", str(ROOT / "docker-compose.yml"), "-f", str(ROOT / "infra/docker/podman.yml")]
        command = [str(self.tool), "-p", self.project, *before, *files, *arguments]
        done = call(command, self.environment, patience)
        if check and done.returncode:
            raise Failed(f"compose {' '.join(arguments[:6])}: {(done.stderr or done.stdout).strip()[-2500:]}")
        return done

    def build(self, options: list[str]) -> None:
        """The three images; every other part uses one of them."""
        self.compose(
            "build", "setup", "postgres", "nats", before=("--parallel", "1", "--podman-build-args", " ".join(options))
        )

    def up(self) -> None:
        self.compose("up", "--no-start", "--no-build")
        self._publish_on_edge_only()
        self.compose("up", "--detach", "--no-build")

    def _publish_on_edge_only(self) -> None:
        """Podman's CNI would lead a published port to any of the container's networks, the inner ones too, whichever came first; Docker does not."""
        for path in (self.podman.home / "cni").glob("*.conflist"):
            network = json.loads(path.read_text())
            if not network["plugins"][0].get("isGateway"):
                network["plugins"] = [plugin for plugin in network["plugins"] if plugin["type"] != "portmap"]
                path.write_text(json.dumps(network))

    def operator(
        self, command: str, *, check: bool = True, mount: tuple[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`docker compose run --rm operator …`: one shell line in it."""
        mounts = ["-v", f"{mount[0]}:{mount[1]}:ro"] if mount else []
        return self.compose(
            "run", "--rm", "-T", *mounts, "operator", *command.split(), check=check, before=("--profile", "operator")
        )

    def name(self, part: str) -> str:
        return f"{self.project}_{part}_1"

    def pid(self, part: str) -> int:
        return int(self.podman.run("inspect", "--format", "{{.State.Pid}}", self.name(part)).stdout)

    def healthy(self, part: str) -> bool:
        return self.podman.run("healthcheck", "run", self.name(part), check=False).returncode == 0

    def revive(self, part: str) -> None:
        """Podman restarts nothing that depends on a container that has ended, as `setup` has; Docker does. Here we keep the policy."""
        if self.podman.run("inspect", "--format", "{{.State.Running}}", self.name(part)).stdout.strip() != "true":
            self.podman.run("start", self.name(part), check=False)

    def wait_healthy(self, parts: tuple[str, ...] = RUNNING) -> float:
        """Seconds that it took. Failed with the logs of what is not."""
        started = time.monotonic()
        waiting = list(parts)
        while waiting:
            waiting = [part for part in waiting if not self.healthy(part)]
            if waiting and time.monotonic() - started > HEALTHY_SECONDS:
                logs = "\n".join(f"--- {part}\n{self.logs(part)[-1500:]}" for part in waiting)
                raise Failed(f"not healthy after {HEALTHY_SECONDS:.0f} s: {', '.join(waiting)}\n{logs}")
            for part in waiting:
                self.revive(part)
            time.sleep(0.5 if waiting else 0)
        return time.monotonic() - started

    def logs(self, part: str) -> str:
        done = self.podman.run("logs", self.name(part), check=False)
        return done.stdout + done.stderr

    def memory(self) -> dict[str, int]:
        return {part: memory_of(tree(self.pid(part))) for part in RUNNING}

    def published(self) -> dict[str, list[str]]:
        """Container -> host addresses, of everything that publishes."""
        found: dict[str, list[str]] = {}
        for part in (*RUNNING, "setup"):
            bindings: dict[str, Any] = (
                json.loads(
                    self.podman.run("inspect", "--format", "{{json .HostConfig.PortBindings}}", self.name(part)).stdout
                )
                or {}
            )
            if listed := [
                f"{each['HostIp']}:{each['HostPort']}" for several in bindings.values() for each in several or []
            ]:
                found[part] = listed
        return found

    def way_out(self, part: str) -> bool:
        """Whether packets for elsewhere would leave: asked inside the container's own network namespace."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.pid(part)), "-n", "ip", "route", "get", SOMEWHERE[0]],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode == 0

    def opens(self, part: str, host: str, port: int) -> bool:
        """Whether a connection from inside that container's networks comes about."""
        script = f"import socket; socket.create_connection(({host!r}, {port}), 3).close()"
        command = ["nsenter", "-t", str(self.pid(part)), "-n", "python3", "-c", script]
        return (
            subprocess.run(command, capture_output=True, check=False, env={"PATH": os.environ["PATH"]}).returncode == 0
        )

    def status(self, part: str) -> dict[str, str]:
        lines = Path(f"/proc/{self.pid(part)}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def root_is_read_only(self, part: str) -> bool:
        first = next(
            line.split()
            for line in Path(f"/proc/{self.pid(part)}/mountinfo").read_text().splitlines()
            if line.split()[4] == "/"
        )
        return "ro" in first[5].split(",")


def wanted_uid(part: str) -> int:
    return rules.wanted()[part].uid
