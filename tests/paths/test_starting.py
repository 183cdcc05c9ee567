"""Starting and stopping the whole: killed while it sets up, started again, no room on the disk, room again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from shared.errors import SchleuseError
from shared.testing.servers import free_port_base, short_folder
from tests.factories.documents import decide, listed, submit
from tests.factories.people import Person, become_owner
from tests.factories.stack import ROOT, Stack, schleuse
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A tmpfs as state directory."""
    folder = short_folder("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def state() -> Iterator[Path]:
    folder = short_folder("start")
    yield folder
    schleuse("down", "--state", str(folder))
    shutil.rmtree(folder, ignore_errors=True)


@as_root
def test_a_disk_of_40_mb_is_refused_with_what_is_needed() -> None:
    with small_disk("40M") as folder:
        done = schleuse(
            "up", "--detach", "--wait", "--state", str(folder), "--port-base", str(free_port_base()), "--json"
        )
        assert done.returncode == 2
        assert "MiB free" in done.stderr and "MiB are needed" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (folder / "keys").exists(), "nothing was left"


def start_and_kill(folder: Path, base: int, step: str) -> None:
    """kill -9 the supervisor when it says that it begins a step; what it started dies with it or is ended by the next start."""
    command = [sys.executable, "-m", "infra.local.supervisor", "--state", str(folder), "--port-base", str(base)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if step in json.loads(line)["text"]:
                break
        process.send_signal(signal.SIGKILL)


def test_killed_while_it_sets_up_and_started_again(state: Path) -> None:
    base = free_port_base()
    start_and_kill(state, base, "Starting Postgres")
    start_and_kill(state, base, "Provisioning")
    stack = Stack(state)
    stack.up(base)
    assert until(stack.green, 30)
    assert stack.owner_link


@pytest.mark.long
@pytest.mark.parametrize(
    "step",
    [
        "Checking ports",
        "Making folders",
        "Checking that",
        "Starting Postgres",
        "Provisioning",
        "Starting bridge",
        "running",
    ],
)
def test_killed_at_each_step_of_set_up(state: Path, step: str) -> None:
    base = free_port_base()
    for _ in range(2):
        start_and_kill(state, base, step)
    Stack(state).up(base)
    assert until(Stack(state).green, 30)


def test_a_second_start_keeps_everything_and_a_stop_takes_less_than_ten_seconds(state: Path) -> None:
    stack, base = Stack(state), free_port_base()
    stack.up(base)
    owner, visitor = become_owner(stack), Visitor(stack)
    item = submit(stack, f"# Kept {uuid4().hex[:8]}\n\nkept\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    visitor.vote(item)
    until(lambda: stack.totals()["vote"] == 1, 15)
    began = time.monotonic()
    assert stack.cli("down")["stopped"]
    assert time.monotonic() - began < 10
    assert stack.run("status").returncode == 3
    stack.close()
    stack.up()
    assert stack.urls["console"].endswith(str(base)), "the ports are kept"
    assert stack.owner_link is None, "there is an owner"
    until(lambda: visitor.sees(item), 15)
    assert stack.totals()["vote"] == 1
    assert owner.is_in(), "sessions are kept"
    assert listed(stack, item)["state"] == "published"
    stack.close()


@as_root
def test_a_disk_that_fills_while_it_runs_loses_nothing() -> None:
    with small_disk("700M") as folder:
        stack = Stack(folder)
        stack.up(free_port_base())
        try:
            fill_and_free(stack, become_owner(stack))
        finally:
            stack.close()
            stack.down()


def fill_and_free(stack: Stack, owner: Person) -> None:
    visitor, taken = Visitor(stack), 0
    item = submit(stack, "# Before\n\nbefore\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 5)
    ballast = stack.state / "logs" / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 65536)
        except OSError:
            pass
    for _ in range(5):
        taken += Visitor(stack).say(item, "x" * 3000).status_code == 303
    until(
        lambda: not stack.green() and "MiB left" in json.dumps(stack.status()),
        15,
        "health says that the disk is full",
        0.3,
    )
    try:
        submitted = submit(stack, "# During\n\n" + "word " * 90_000)
    except (SchleuseError, AssertionError):
        submitted = None
    assert visitor.sees(item), "what is public stays readable"
    ballast.unlink()
    until(stack.green, 60, "healthy again after room was made", 0.3)
    until(lambda: stack.totals()["feedback"] == taken, 60, f"all {taken} messages that were taken arrive", 0.3)
    after = submit(stack, "# After\n\nafter\n")
    decide(stack, after)
    until(lambda: visitor.sees(after), 10)
    assert submitted is None or listed(stack, submitted)["state"] == "submitted"
    assert owner.is_in()
    assert stack.parked() == []
