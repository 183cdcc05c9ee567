"""Starting, watching and stopping: the state directory, the steps that may be interrupted, the parts that may crash."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from infra.local import config, folders, keys, place, preflight, prepare, processes
from infra.local.command import as_user
from infra.local.identities import Identities, as_one_user, servers_only
from infra.local.layout import Layout
from infra.local.logfile import LARGEST, LogFile
from infra.local.part import Part, Plan
from infra.local.readiness import until
from schemas.catalogue import SERVICES
from shared.errors import Refused
from shared.settings import Settings
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import free_port_base, new_servers, short_folder


def who() -> Identities:
    return servers_only() if os.getuid() == 0 else as_one_user()


@pytest.fixture
def state() -> Iterator[Path]:
    path = short_folder("state")
    yield path
    shutil.rmtree(path, ignore_errors=True)


def held_keys(state: Path) -> dict[Path, bytes]:
    """All but the fingerprint key, which every start makes anew."""
    found = [path for path in (state / "keys").rglob("*") if path.is_file() and path.name != keys.FINGERPRINT]
    return {path: path.read_bytes() for path in sorted(found)}


def test_preparing_twice_keeps_every_key(state: Path) -> None:
    base = free_port_base()
    new_servers(state, base)
    before = held_keys(state)
    new_servers(state, base)
    assert before == held_keys(state)


def test_the_published_keys_are_those_of_the_private_files(state: Path) -> None:
    new_servers(state, free_port_base())
    public = PublicKeys.load(state / "keys" / "public.json")
    for service, duty in (("console", "decision"), ("bridge", "gate"), ("bridge", "envelope")):
        assert SigningKey.load(state / "keys" / service / f"{duty}.key").key_id in public.ids(duty)
    assert Settings.load("site", state).ports["nats"] == config.read(Layout(state)).ports["nats"]  # type: ignore[union-attr]


def test_key_files_are_closed_to_others(state: Path) -> None:
    new_servers(state, free_port_base())
    for service in (*SERVICES, "admin"):
        assert (state / "keys" / service).stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in (state / "keys" / service).iterdir()} == {0o600}
    assert (state / "keys" / "operator.token").stat().st_mode & 0o777 == 0o600
    assert (state / "keys" / "ingest.token").stat().st_mode & 0o007 == 0


class Killed(BaseException):
    """Stands for kill -9: nothing of the interrupted step runs on."""


@pytest.mark.parametrize("at", range(1, 60, 3))
def test_set_up_killed_at_any_step_is_completed_by_the_next_start(
    state: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, steps = free_port_base(), 0
    rename, mkdir = Path.rename, Path.mkdir

    def counted(original: object) -> object:
        def act(self: Path, *args: object, **more: object) -> object:
            nonlocal steps
            steps += 1
            if steps == at:
                raise Killed
            return original(self, *args, **more)  # type: ignore[operator]

        return act

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", counted(rename))
        patched.setattr(Path, "mkdir", counted(mkdir))
        try:
            new_servers(state, base)
        except Killed:
            pass
        else:
            pytest.skip(f"set-up has fewer than {at} steps")
    test_the_published_keys_are_those_of_the_private_files(state)


def test_a_link_planted_in_a_services_place_is_refused_and_not_followed(state: Path) -> None:
    base = free_port_base()
    new_servers(state, base)
    victim = state.parent / f"{state.name}-victim"
    victim.mkdir(mode=0o700)
    try:
        (state / "run" / "site").rmdir()
        (state / "run" / "site").symlink_to(victim)
        with pytest.raises(Refused, match="not a link"):
            new_servers(state, base)
        assert victim.stat().st_mode & 0o777 == 0o700
        assert victim.stat().st_uid == os.getuid()
    finally:
        victim.rmdir()


def test_a_link_where_a_file_is_written_is_replaced_and_not_followed(state: Path) -> None:
    victim = state / "victim"
    victim.write_text("kept")
    (state / ".new-file").symlink_to(victim)
    (state / "file").symlink_to(victim)
    folders.write(state / "file", "new", 0o644)
    assert victim.read_text() == "kept"
    assert not (state / "file").is_symlink()


def test_a_port_in_use_is_named_with_what_to_do(state: Path) -> None:
    base = free_port_base()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", base + 1))
        taken.listen()
        with pytest.raises(
            Refused, match=rf"port {base + 1} \(site\) is already in use by .*{os.getpid()}.*--port-base"
        ):
            new_servers(state, base)
    assert not (state / "config.json").exists()


def test_a_state_of_another_version_is_refused_and_not_changed(state: Path) -> None:
    base = free_port_base()
    new_servers(state, base)
    written = json.dumps({**json.loads((state / "config.json").read_text()), "version": 99})
    (state / "config.json").write_text(written)
    with pytest.raises(Refused, match="version 99"):
        new_servers(state, base)
    assert (state / "config.json").read_text() == written


def test_databases_of_another_postgres_version_are_refused(state: Path) -> None:
    servers = new_servers(state, free_port_base())
    (state / "pg" / "data-9").mkdir()
    with pytest.raises(RuntimeError, match="data-9"):
        servers.run_as("pgadm", [sys.executable, "-m", "infra.postgres.launch", "--state", str(state)])


def test_a_full_disk_is_said_before_anything_is_written(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "FRESH_BYTES", shutil.disk_usage(state).total + 1)
    with pytest.raises(Refused, match="MiB free"):
        prepare.prepare(place.settle(state, who()), who(), free_port_base(), lambda _: None)
    assert list(state.iterdir()) == []


def test_a_foreign_folder_is_refused(state: Path) -> None:
    (state / "precious").write_text("mine")
    with pytest.raises(Refused, match="not empty"):
        place.settle(state, who())


def test_the_place_under_var_lib_can_be_entered_however_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere, named = tmp_path / "var", tmp_path / "state"
    elsewhere.mkdir(mode=0o700)
    named.mkdir()
    monkeypatch.setattr(place, "ELSEWHERE", elsewhere)
    target = place._move_elsewhere(named, named)
    assert named.resolve() == target
    assert elsewhere.stat().st_mode & 0o777 == 0o755


def test_two_supervisors_cannot_share_a_state_directory(state: Path) -> None:
    layout = Layout(state)
    first = place.hold(layout)
    assert place.held(layout)
    with pytest.raises(Refused, match="already running"):
        place.hold(layout)
    os.close(first)
    assert not place.held(layout)


def test_what_a_killed_supervisor_left_is_ended_and_strangers_are_not(state: Path) -> None:
    layout = Layout(state)
    (state / "run").mkdir()
    ours = subprocess.Popen(["/bin/sh", "-c", "sleep 300; :", str(state)])
    stranger = subprocess.Popen(["/bin/sleep", "300"])
    try:
        mine = processes.record_of("site", ours.pid)
        reused = processes.record_of("console", stranger.pid)
        assert mine and reused
        processes.write(layout, [mine, reused])
        reaper = asyncio.run(ended_while(ours, layout))
        assert reaper == ["site"]
        assert stranger.poll() is None
    finally:
        for process in (ours, stranger):
            process.kill()
            process.wait()


async def ended_while(process: subprocess.Popen[bytes], layout: Layout) -> list[str]:
    ending = asyncio.create_task(asyncio.to_thread(processes.end_left_behind, layout))
    await asyncio.to_thread(process.wait)
    return await ending


@asynccontextmanager
async def part(state: Path, script: str, notices: list[str]) -> AsyncIterator[Part]:
    flag = state / "ready"

    async def probe() -> bool:
        return flag.exists()

    plan = Plan("site", ["/bin/sh", "-c", script], {"PATH": "/usr/bin:/bin"}, str(state), probe)
    found = Part(plan, LogFile(state / "site.log"), lambda _, text: notices.append(text), lambda: None)
    found.start()
    try:
        yield found
    finally:
        await found.stop(2.0)


async def holds(condition: object) -> bool:
    async def asked() -> bool:
        return bool(condition())  # type: ignore[operator]

    return await until(asked, 10)


async def test_a_crashed_part_is_started_again_and_reported(state: Path) -> None:
    notices: list[str] = []
    async with part(state, "touch ready; echo hello; exec sleep 300", notices) as site:
        assert await site.became_ready()
        first = site.pid
        assert first
        os.kill(first, signal.SIGKILL)
        assert await holds(lambda: site.restarts == 1 and site.state == "ready" and site.pid != first)
        assert await holds(lambda: (state / "site.log").read_bytes().count(b"hello") == 2)
    assert notices == ["was ended by SIGKILL; starting again in 0.1 s"]
    assert site.state == "stopped"


async def test_a_part_that_always_ends_is_given_up_at_the_start(state: Path) -> None:
    notices: list[str] = []
    async with part(state, "echo no such thing; exit 7", notices) as site:
        assert not await site.became_ready(30)
    assert "ended with code 7" in notices[0]
    assert "no such thing" in notices[0]
    assert len(notices) >= 2


async def test_a_part_that_does_not_listen_is_killed(state: Path) -> None:
    notices: list[str] = []
    async with part(state, "trap '' TERM; touch ready; while :; do sleep 1; done", notices) as site:
        assert await site.became_ready()
        pid = site.pid
        assert pid
        await site.stop(0.5)
        assert processes.start_time(pid) is None
    assert notices == ["did not stop within 0 s and was killed"]


async def test_a_crash_is_seen_while_grandchildren_hold_the_output(state: Path) -> None:
    notices: list[str] = []
    async with part(state, "sleep 300 & touch ready; sleep 300", notices) as site:
        assert await site.became_ready()
        assert site.pid
        os.kill(site.pid, signal.SIGKILL)
        assert await holds(lambda: site.restarts == 1)


def test_a_log_starts_anew_when_it_is_large(state: Path) -> None:
    log = LogFile(state / "site.log")
    line = b"x" * 1024**2 + b"\n"
    for _ in range(LARGEST // len(line) * 4 + 8):
        log.write(line)
    log.close()
    assert {path.name for path in state.glob("site.log*")} == {"site.log", "site.log.1", "site.log.2"}
    assert all(path.stat().st_size <= LARGEST + len(line) for path in state.glob("site.log*"))


def test_key_folders_are_made_whole_or_not_at_all(state: Path) -> None:
    layout = Layout(state)
    me = (os.getuid(), os.getgid())
    keys.make_keys(layout, as_one_user(), me)
    names = ["bus.nk", "envelope.key", "fingerprint.key", "gate.key", "leaks.key", "witness.key"]
    assert sorted(path.name for path in (state / "keys" / "bridge").iterdir()) == names
    assert not list((state / "keys").glob(".new-*"))


def test_nothing_begins_whose_starter_has_died_before_it_could_be_told() -> None:
    """A supervisor that is killed just then leaves no record of what it started: the next start would not know of it."""
    wrapped = as_user(who(), "pgadm", ["/bin/echo", "began"])
    ours = subprocess.run(wrapped, capture_output=True, text=True, check=False)
    orphan = subprocess.run(
        ["/bin/sh", "-c", '"$@"; exit 0', "sh", *wrapped], capture_output=True, text=True, check=False
    )
    assert (ours.stdout, orphan.stdout) == ("began\n", "")
