"""Every command in the README works as it stands there, one after another, on an installation of its own."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.servers import free_port_base, short_folder
from tests.factories.stack import ROOT
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line.strip()
]
SCHLEUSE = [line for line in COMMANDS if line.startswith(".venv/bin/schleuse ")]
IN_CONTAINERS = [line for line in COMMANDS if line.startswith("docker compose ")]
"""What they come to is tried by `make compose-test`."""
MAKE = [line for line in COMMANDS if line.startswith("make ")]
TAKES_LONG = {"make test", "make test-long", "make check"}


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    folder = short_folder("readme")
    yield folder
    run(".venv/bin/schleuse down", folder)
    shutil.rmtree(folder, ignore_errors=True)


def run(line: str, state: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = [*shlex.split(line), *more]
    if words[0].endswith("schleuse"):
        words += ["--state", str(state)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False, env=environment())


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def test_every_line_is_a_command_that_is_tested_here() -> None:
    assert len(SCHLEUSE) > 10
    assert set(COMMANDS) == set(SCHLEUSE) | set(MAKE) | set(IN_CONTAINERS)


def test_the_commands_work_in_the_order_of_the_readme(state: Path) -> None:
    for line in SCHLEUSE:
        more = ("--port-base", str(free_port_base())) if " up " in line else ()
        done = run(line, state, *more)
        said = [each for each in done.stdout.splitlines() if not each.endswith(" ok") and not each.startswith(" " * 14)]
        assert done.returncode == 0, "\n".join([line, done.stderr[-1500:], *said[-40:]])


@pytest.mark.parametrize("line", [line for line in MAKE if line != "make run"])
def test_a_target_of_make_exists(line: str, state: Path) -> None:
    words = [*shlex.split(line), "-n"] if line in TAKES_LONG else shlex.split(line)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    assert done.stdout.strip()


def test_make_run_prints_the_addresses_and_stops_within_ten_seconds_of_ctrl_c() -> None:
    folder, base = short_folder("run"), free_port_base()
    output = folder.with_suffix(".out")
    try:
        with output.open("w") as stream:
            process = subprocess.Popen(
                ["make", "run", f"UP=--state {folder} --port-base {base}"], cwd=ROOT, stdout=stream, stderr=stream, start_new_session=True
            )  # fmt: skip
        try:
            until(lambda: "/welcome/" in output.read_text(), 60, "the one-time link is printed", 0.2)
            said = output.read_text()
            assert (
                f"http://localhost:{base}" in said
                and f"http://127.0.0.1:{base + 1}" in said
                and f"http://127.0.0.2:{base + 2}" in said
            )
            assert "OS user" in said
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(15)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        output.unlink(missing_ok=True)


def test_every_file_and_picture_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:services|shared|schemas|infra|tests)/[^`\s]*)`", README)) | set(
        re.findall(r"\]\(([^)#:]+)\)", README)
    )
    missing = {name for name in named if not (ROOT / name).exists()}
    assert not missing


def test_the_readme_names_no_machine() -> None:
    assert not re.search(r"/(home|root|work)/", README)
