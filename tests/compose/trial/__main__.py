"""`make compose-test`: docker-compose.yml from nothing, run, attacked, used, taken down. As root; needs no registry and no docker.

python -m tests.compose.trial
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2

from tests.compose.trial import checks, machine, stand_ins, story
from tests.compose.trial.machine import Failed, Podman
from tests.compose.trial.system import System, free_net, free_port

STOPPED, KILLED = "site", "postgres"
UNEXAMINED = "examine this area"
Check = dict[str, Any]


class Clock:
    """Says what happens and how long it took."""

    def __init__(self) -> None:
        self.started = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        print(f"{began - self.started:6.1f} s  {name}", flush=True)
        yield
        print(f"{'':9} done in {time.monotonic() - began:.1f} s", flush=True)

    @staticmethod
    def say(lines: list[str]) -> None:
        for line in lines:
            print(f"{'':9} {line}", flush=True)


def trial(home: Path, clock: Clock) -> None:
    with clock.step("Tools of the machine"):
        clock.say([f"installed: {', '.join(machine.install()) or 'nothing was missing'}"])
    podman = Podman(home)
    before = machine.bridges(), machine.firewall()
    try:
        system = _built(home, podman, clock)
        try:
            _run(system, clock)
        finally:
            with clock.step("Taking it down"):
                system.compose("down", "--volumes", check=False)
    finally:
        left = podman.clear()
        if not before[1]:
            machine.tidy_firewall()
        left += sorted(machine.bridges() - before[0])
        left += [] if before[1] else machine.firewall()
        clock.say([f"left behind: {', '.join(left) or 'nothing'}"])
    if left:
        raise Failed(f"left behind: {', '.join(left)}")


def _built(home: Path, podman: Podman, clock: Clock) -> System:
    with clock.step("Stand-ins for the base images (debootstrap; kept in .cache)"):
        tar, kept = stand_ins.base(home)
        stand_ins.load(podman, tar)
        clock.say(["from .cache" if kept else "made anew", *stand_ins.names()])
    with clock.step("Packages and podman-compose (kept in .cache)"):
        packages, _ = stand_ins.wheels()
        system = System(podman, stand_ins.tool(), f"trial{os.getpid()}", free_port(), free_net())
    with clock.step("Building the images, without a network"):
        system.build(stand_ins.build_options(home, packages))
        shown = podman.run("images", "--format", "{{.Repository}}:{{.Tag}} {{.Size}}").stdout.splitlines()
        clock.say(sorted(line for line in shown if "<none>" not in line))
    return system


def _run(system: System, clock: Clock) -> None:
    with clock.step(f"docker-compose.yml up, on {system.net}.0.0, port {system.port}"):
        system.up()
        system.wait_healthy()
    with clock.step("Seen from outside"):
        clock.say(checks.check(system))
        used = system.memory()
        clock.say(
            [
                f"memory {sum(used.values()) / 1024**2:.0f} MB: "
                + ", ".join(f"{part} {size / 1024**2:.0f}" for part, size in used.items())
            ]
        )
    with clock.step("One publication"):
        clock.say(story.tell(system))
    with clock.step("schleuse prove, inside"):
        system.wait_healthy()
        clock.say(_prove(system))
        clock.say(checks.check_logs(system))
    with clock.step(f"{STOPPED} stopped and started again, {KILLED} killed"):
        system.podman.run("stop", "--time", "20", system.name(STOPPED))
        system.podman.run("kill", system.name(KILLED))
        clock.say(
            [
                f"all healthy again after {system.wait_healthy():.1f} s, and what was withdrawn is still gone: {story.still_gone(system)}"
            ]
        )


def _prove(system: System) -> list[str]:
    """An area that could not be examined in time on a busy machine is examined once more, alone."""
    found = _asked(system)
    for area in sorted({check["area"] for check in found if check["attempt"] == UNEXAMINED}):
        found = [check for check in found if check["area"] != area] + _asked(system, f"--area={area}")
    still_open = [
        f"open: {check['actor']}, {check['attempt']}: {check['got']}"
        for check in found
        if check["got"].startswith("open")
    ]
    wrong = [check for check in found if not check["ok"] and not check["got"].startswith("open")]
    if wrong:
        shown = "\n".join(
            " | ".join(str(each[key]) for key in ("area", "actor", "attempt", "expected", "got")) for each in wrong[:40]
        )
        raise Failed(f"prove found {len(wrong)} differences:\n{shown}")
    return [f"{len(found)} checks, 0 failed, {len(still_open)} open", *still_open]


def _asked(system: System, *more: str) -> list[Check]:
    said = system.operator(" ".join(["schleuse prove --json", *more]), check=False)
    line = next((line for line in said.stdout.splitlines() if line.startswith('{"checks"')), "")
    if not line:
        raise Failed(f"prove said nothing that can be read: {(said.stdout + said.stderr)[-2000:]}")
    checks: list[Check] = json.loads(line)["checks"]
    return checks


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    if os.getuid() != 0:
        sys.stderr.write("compose-test needs root: it makes containers, networks and a small Debian\n")
        return 2
    signal.signal(signal.SIGTERM, _interrupted)
    clock = Clock()
    try:
        trial(Path(tempfile.mkdtemp(prefix="schleuse-", dir="/var/tmp")), clock)
    except (Failed, OSError, KeyboardInterrupt, subprocess.SubprocessError, httpx2.HTTPError) as error:
        print(f"FAILED after {time.monotonic() - clock.started:.0f} s: {str(error) or 'interrupted'}", file=sys.stderr)
        return 1
    print(f"green in {time.monotonic() - clock.started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
