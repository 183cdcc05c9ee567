"""Backing up what runs, restoring it on a fresh state, and what must not come back (S6, S12)."""

import base64
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from infra.backup.manifest import PARTIAL, WHOLE
from infra.backup.restore import check, restore
from infra.backup.sealing import Identities, make_identity
from infra.backup.take import DATABASES
from services.agent.downloads.links import read_keys
from shared.errors import Refused
from shared.testing.servers import free_port_base, short_folder
from tests.factories.backups import Backup, back_up
from tests.factories.documents import Item, decide, listed, submit, withdraw
from tests.factories.own_secrets import is_stopped, put_secret
from tests.factories.stack import ROOT, Stack, schleuse
from tests.factories.visitors import Visitor
from tests.factories.waiting import until
from tests.paths.test_visitors import share

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """For backups and restored states: short, because sockets lie below."""
    folder = short_folder("backup")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def backup(stack: Stack, place: Path) -> Iterator[Backup]:
    made = back_up(stack, place / "made")
    yield made
    stack.run("backup", "forget", str(made.at))


def published(stack: Stack, text: str) -> Item:
    item = submit(stack, text)
    decide(stack, item)
    until(lambda: Visitor(stack).sees(item), 10)
    return item


def get(stack: Stack, item: Item) -> httpx2.Response:
    with httpx2.Client(base_url=stack.urls["site"]) as http:
        return http.get(item.url)


def numbers(stack: Stack) -> dict[str, Any]:
    """What must be the same: queue, totals, what is parked."""
    items = {row["item_id"]: (row["state"], row["revision"], row["version"]) for row in stack.items()}
    return {"items": items, "totals": stack.totals(), "parked": len(stack.parked())}


def restored(backup: Backup, folder: Path) -> tuple[Stack, dict[str, Any]]:
    """Restored into a new folder and started there."""
    base = free_port_base()
    done = schleuse(
        "restore", str(backup.at), "--state", str(folder), *backup.opening, "--port-base", str(base), "--json"
    )
    assert done.returncode == 0, done.stderr
    stack = Stack(folder)
    stack.up()
    return stack, json.loads(done.stdout)


def test_a_restored_system_is_the_same_but_for_what_was_withdrawn_since(stack: Stack, place: Path) -> None:
    name = uuid4().hex[:8]
    stays, goes = (published(stack, f"# {each} {name}\n\nA page with ümlauts.\n") for each in ("Stays", "Goes"))
    waits = submit(stack, f"# Waits {name}\n\nwaits\n")
    Visitor(stack).vote(stays)
    stack.settled_totals()
    value, memory = put_secret(stack, name), remembered(stack, name)
    _, closes, closed = share(stack, f"# Closes {name}\n", datetime.now(UTC) + timedelta(days=1))
    _, _, opened = share(stack, f"# Stays open {name}\n", datetime.now(UTC) + timedelta(days=1))
    before = numbers(stack)
    backup = back_up(stack, place / "story")
    withdraw(stack, goes)
    stack.ask("console", "links.close", link=closes["link"])
    later = published(stack, f"# Later {name}\n\nlater\n")
    backup.follows(stack)
    fresh, told = restored(backup, place / "fresh")
    try:
        assert (told["withdrawn_again"], told["links"]) == ([goes.item_id], 1)
        assert [each["path"] for each in told["missing"]] == [later.path]
        assert (told["site"], told["because"]) == ("as_it_was", "")
        until(lambda: get(fresh, stays).status_code == 200, 20, "the site answers")
        assert here(get(fresh, stays), fresh) == here(get(stack, stays), stack)
        assert (get(fresh, goes).status_code, get(fresh, later).status_code) == (410, 404)
        assert (Visitor(fresh).get(opened).status_code, Visitor(fresh).get(closed).status_code) == (200, 404)
        until(lambda: listed(fresh, goes)["state"] == "withdrawn", 20)
        assert listed(fresh, waits)["state"] == "submitted"
        changed = before["items"].pop(goes.item_id)
        after = numbers(fresh)
        assert after["items"].pop(goes.item_id)[0] == "withdrawn" != changed[0]
        assert after == before
        assert fresh.ask("bridge", "gate.verify")["ok"]
        decide(fresh, waits)
        until(lambda: Visitor(fresh).sees(waits), 10, "it goes on")
        assert (fresh.layout.workspace / memory).read_text() == (stack.layout.workspace / memory).read_text()
        assert is_stopped(fresh, f"# Told {name}\n\n{value}\n"), "the lock knows the restored secrets by another key"
    finally:
        fresh.close()
        fresh.down()
        stack.run("backup", "forget", str(backup.at))


def remembered(stack: Stack, text: str) -> str:
    """A person's memory file, as the agent would have written it; its path below the folder of workspaces."""
    home = stack.layout.workspace / f"user-{uuid4()}"
    stack.run_as("agent", "sh", "-c", f"umask 077; mkdir {home}; echo '- 2026-11-30: {text}' > {home}/.memory.md")
    return f"{home.name}/.memory.md"


def here(answer: httpx2.Response, stack: Stack) -> str:
    """A page, its own address left out, and what is drawn anew for each visitor."""
    text = answer.text.replace(stack.urls["site"], "").replace(stack.urls["site"].split("//")[1], "")
    return "\n".join(line for line in text.splitlines() if 'name="token"' not in line)


@pytest.mark.long
def test_without_the_log_the_site_stays_shut(backup: Backup, place: Path) -> None:
    """Restored only: what it says is what the lock's record holds."""
    hurt = backup.copy(place / "no-log")
    (hurt.at / "gate.head").unlink()
    done = schleuse("restore", str(hurt.at), "--state", str(place / "shut"), *hurt.opening, "--port-base", str(free_port_base()), "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert (found["site"], found["modes"]) == ("off", 1)
    assert "nobody knows what was withdrawn" in found["because"]


@pytest.mark.parametrize("name", ["databases.tar.age", "streams.age", "config.age", "manifest.json", "manifest.sig"])
def test_a_restore_of_a_hurt_backup_is_refused_before_anything_is_written(
    backup: Backup, place: Path, name: str
) -> None:
    for how in ("cut", "flip"):
        hurt = backup.copy(place / f"hurt-{uuid4().hex[:6]}")
        path = hurt.at / WHOLE / name
        size = path.stat().st_size
        if how == "cut":
            os.truncate(path, size - 1)
        else:
            with path.open("r+b") as file:
                file.seek(size // 2)
                byte = file.read(1)
                file.seek(size // 2)
                file.write(bytes([byte[0] ^ 1]))
        with pytest.raises(Refused):
            check(hurt.at, hurt.folder / "keys.age", hurt.folder / "identity", lambda _: None)
        shutil.rmtree(hurt.folder)


def test_a_restore_never_meets_what_is_there(stack: Stack, backup: Backup, place: Path) -> None:
    running = schleuse("restore", str(backup.at), "--state", str(stack.state), *backup.opening)
    assert (running.returncode, "is running" in running.stderr) == (2, True), running.stderr
    (place / "thesis").mkdir()
    (place / "thesis" / "chapter.txt").write_text("mine")
    checked = check(backup.at, backup.folder / "keys.age", backup.folder / "identity", lambda _: None)
    with pytest.raises(Refused, match="is not empty"):
        restore(checked, place / "thesis", None, lambda _: None)
    assert (place / "thesis" / "chapter.txt").read_text() == "mine"
    assert stack.ready()


def test_another_identity_is_refused(stack: Stack, backup: Backup, place: Path) -> None:
    other = place / "other-identity"
    make_identity(other)
    with pytest.raises(Refused, match="encrypted to others"):
        check(backup.at, backup.folder / "keys.age", other, lambda _: None)
    done = schleuse("backup", "verify", str(backup.at), "--identity", str(other), "--state", str(stack.state))
    assert (done.returncode, "encrypted to others" in done.stderr) == (2, True), done.stderr


def test_no_key_lies_in_a_backup(stack: Stack, backup: Backup) -> None:
    """Every private half, searched for in everything that was backed up, decrypted (S12)."""
    keys = [path for path in stack.layout.keys.rglob("*") if path.suffix in (".key", ".nk", ".token")]
    secrets = [path.read_bytes().strip() for path in [*keys, stack.layout.tls / "nats.key"]]
    secrets += [each.secret.encode() for each in read_keys(stack.layout.links_key.read_text())]
    as_text = ("secrets.key", "links.key")  # the first is written as age does
    raw = [path for path in keys if path.suffix == ".key" and path.name not in as_text]
    secrets += [base64.b64decode(path.read_bytes()) for path in raw]
    opened, found = Identities.read(backup.folder / "identity"), []
    for path in (backup.at / WHOLE).glob("*.age"):
        out = io.BytesIO()
        opened.pour(path, out)
        found += [path.name for secret in secrets if secret in out.getvalue()]
    assert len(secrets) > 12
    assert not found


def small_files() -> None:
    """As a disk that is full after 20 MB, for this process and what it starts."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20 * 1024**2, 20 * 1024**2))


def start(stack: Stack, directory: Path, recipient: str, limit: Any = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "infra.cli.main", "backup", str(directory), "--recipient", recipient, "--state", str(stack.state)]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=limit, stderr=subprocess.PIPE, text=True)  # noqa: PLW1509 - it only sets a limit


def is_unharmed(stack: Stack) -> bool:
    """Ready, and the database server recycles its log again."""
    kept = stack.value("bridge", "SELECT setting FROM pg_settings WHERE name = 'wal_keep_size'")
    return kept == "0" and stack.ready()


def test_a_full_disk_leaves_nothing_and_harms_nobody(stack: Stack, backup: Backup, place: Path) -> None:
    recipient = make_identity(place / "full-identity")
    with start(stack, place / "full", recipient, small_files) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "no room for the backup" in said and "Traceback" not in said
    assert list((place / "full").iterdir()) == []
    until(lambda: is_unharmed(stack), 20, "nothing else happened", 0.3)


def test_a_killed_backup_is_none_and_the_next_one_is_whole(stack: Stack, backup: Backup, place: Path) -> None:
    recipient = make_identity(place / "killed-identity")
    directory = place / "killed"
    with start(stack, directory, recipient) as process:
        until((directory / PARTIAL / DATABASES).exists, 30, "it writes", 0.002)
        process.kill()
    assert not (directory / WHOLE).exists()
    done = stack.run("backup", "verify", str(directory), "--identity", str(place / "killed-identity"))
    assert (done.returncode, "never finished" in done.stderr) == (2, True), done.stderr
    until(lambda: is_unharmed(stack), 20, "nothing else happened", 0.3)
    assert stack.cli("backup", str(directory), "--recipient", recipient)["bytes"] > 1024**2
    assert not (directory / PARTIAL).exists()
    stack.run("backup", "forget", str(directory))


@pytest.mark.long
def test_a_restore_that_is_killed_is_begun_again(backup: Backup, place: Path) -> None:
    state, base = place / "twice", str(free_port_base())
    command = [sys.executable, "-m", "infra.cli.main", "restore", str(backup.at), "--state", str(state), *backup.opening, "--port-base", base]  # fmt: skip
    for seconds in (0.8, 1.5, 2.5, 4.0):
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
        time.sleep(seconds)
        process.kill()
        process.wait()
        if state.exists() and (state / ".restoring").exists():
            refused = schleuse("up", "--detach", "--wait", "--state", str(state))
            assert refused.returncode == 2, refused.stderr
    stack, found = restored(backup, state)
    try:
        assert found["site"] == "as_it_was"
        until(stack.green, 30)
    finally:
        stack.close()
        stack.down()


@pytest.mark.long
def test_what_lay_in_the_streams_alone_is_read_after_the_restore(stack: Stack, place: Path) -> None:
    """A reader is away, and its senders' outboxes no longer hold what waits for it (after seven days)."""
    item = published(stack, f"# Counted {uuid4().hex[:8]}\n\ncounted\n")
    stack.settled_totals()
    console = stack.pids()["console"]
    os.kill(console, signal.SIGSTOP)
    try:
        for _ in range(5):
            Visitor(stack).vote(item)
        waiting = "SELECT count(*) FROM app.outbox o WHERE subject = 'to.console.signals.recorded' AND occurred_at > now() - interval '1 minute'"
        until(
            lambda: stack.value("bridge", waiting) and stack.value("bridge", "SELECT count(*) FROM app.todo") == 0, 30
        )
        gone = stack.ask_database(
            "pgadm", "console_site_db", "DELETE FROM app.outbox WHERE subject = 'to.console.signals.recorded'"
        )
        assert gone == []
        backup = back_up(stack, place / "streams")
    finally:
        os.kill(console, signal.SIGCONT)
    totals = stack.settled_totals()
    fresh, told = restored(backup, place / "from-streams")
    try:
        assert told["from_streams"] >= 1
        until(lambda: fresh.totals() == totals, 60, "everything is counted once")
    finally:
        fresh.close()
        fresh.down()
        stack.run("backup", "forget", str(backup.at))
