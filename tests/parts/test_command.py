"""The `schleuse` command where nothing runs: exit codes, what goes to which stream, and what a newcomer can ask."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.cli.main import COMMANDS, build, exit_code
from infra.local import runtime
from infra.local.identities import servers_only
from infra.local.layout import Layout
from schemas.catalogue import EVENTS
from shared.errors import Conflict, NotFound, Refused, Transient
from shared.testing.servers import free_port_base, new_servers, short_folder

ROOT = Path(__file__).resolve().parents[2]
NOT_STAGED_YET = {"key.changed"}
"""The lock and the site take a new decision key; the page that changes one is to come."""
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="needs root: other OS users are involved")


@pytest.fixture
def state() -> Iterator[Path]:
    path = short_folder("command")
    yield path
    shutil.rmtree(path, ignore_errors=True)


def schleuse(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "infra.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_status_of_nothing_ends_with_3_and_still_prints_json(state: Path) -> None:
    done = schleuse("status", "--json", "--state", str(state))
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert (found["ready"], found["services"], found["os_separation"], found["egress_separation"]) == (
        False,
        {},
        False,
        False,
    )


def test_status_of_a_stopped_installation_names_its_addresses(state: Path) -> None:
    base = free_port_base()
    new_servers(state, base)
    found = json.loads(schleuse("status", "--json", "--state", str(state)).stdout)
    expected = {
        "console": f"http://localhost:{base}",
        "site": f"http://127.0.0.1:{base + 1}",
        "workspace": f"http://127.0.0.2:{base + 2}",
    }
    assert found["urls"] == expected


@pytest.mark.parametrize("command", ["status", "down", "logs"])
def test_a_command_that_needs_a_running_system_says_so_on_standard_error(state: Path, command: str) -> None:
    done = schleuse(command, "--state", str(state))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("schleuse: ")


def test_a_refusal_ends_with_2_and_leaves_nothing(state: Path) -> None:
    (state / "precious").write_text("mine")
    done = schleuse("up", "--detach", "--state", str(state))
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in state.iterdir()] == ["precious"]


def test_wrong_usage_ends_with_2() -> None:
    assert schleuse("status", "--no-such-option").returncode == 2


def test_every_command_is_there() -> None:
    app = build(["--help"])
    names = {each.name or each.callback.__name__ for each in app.registered_commands if each.callback} | {
        each.name for each in app.registered_groups
    }
    assert set(COMMANDS) <= {str(name) for name in names}


def test_exit_codes_follow_the_kind_of_error() -> None:
    found = [
        exit_code(error)
        for error in (Transient("x", code="not_running"), Refused("x"), NotFound("x"), Conflict("x"), Transient("x"))
    ]
    assert found == [3, 2, 2, 2, 1]


def test_doctor_finds_a_key_folder_that_others_can_read(state: Path) -> None:
    new_servers(state, free_port_base())
    assert schleuse("doctor", "--state", str(state)).returncode == 0
    (state / "keys" / "bridge").chmod(0o755)
    done = schleuse("doctor", "--json", "--state", str(state))
    assert done.returncode == 1
    assert [each["what"] for each in json.loads(done.stdout)["checks"] if each["level"] == "fail"] == ["Files"]


def test_the_path_of_an_event_can_be_followed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "infra.local.event_path", "item.decided"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for expected in ("schemas/console/v1.py", "decide_item", "from.console.item.decided", "services/bridge/intake.py"):
        assert expected in done.stdout
    assert (
        subprocess.run(
            [sys.executable, "-m", "infra.local.event_path", "no.such"], cwd=ROOT, capture_output=True, check=False
        ).returncode
        == 2
    )


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_every_event_is_staged_and_handled_somewhere(event: object) -> None:
    from infra.local.event_path import sections  # noqa: PLC0415 - only needed here
    from schemas.catalogue import Event  # noqa: PLC0415 - for the type only

    assert isinstance(event, Event)
    found = dict(sections(event))
    assert found["staged"] != ["nowhere yet"] or event.name in NOT_STAGED_YET
    assert found["handled"] != ["nowhere yet"]


@AS_ROOT
def test_code_that_other_users_cannot_read_is_copied_and_runs(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = state / "closed"
    closed.mkdir(mode=0o700)
    for package in runtime.PACKAGES:
        shutil.copytree(ROOT / package, closed / package, ignore=shutil.ignore_patterns("__pycache__"))
    original = runtime.here()
    monkeypatch.setattr(
        runtime, "here", lambda: runtime.Runtime(original.python, closed, str(closed), original.nats, copied=False)
    )
    uid, gid = servers_only().owner("nats")
    made = runtime.choose(Layout(state), uid, gid)
    assert made.copied
    command = [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={gid}",
        "--clear-groups",
        str(made.python),
        "-c",
        "import services.site, asyncpg, nats; print(services.__file__)",
    ]
    environment = {"PYTHONPATH": made.path, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=made.code, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(state / "runtime" / "code" / "services" / "__init__.py")


@AS_ROOT
def test_a_state_directory_that_services_cannot_enter_lies_elsewhere(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infra.local import place  # noqa: PLC0415 - only needed here

    closed, elsewhere = state / "home", state / "var"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(place, "ELSEWHERE", elsewhere)
    layout = place.settle(closed / "state", servers_only())
    assert layout.state.parent == elsewhere
    assert (closed / "state").resolve() == layout.state
    assert place.settle(closed / "state", servers_only()) == layout
