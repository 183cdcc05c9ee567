"""Holes in backups: what opens one lies in it, others can read it, it is not what was signed, it no longer follows (S6, S12)."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.backup.manifest import NAME, PARTIAL, WHOLE
from infra.backup.sealing import make_identity
from infra.prove.areas import backups
from infra.prove.check import Book
from infra.prove.target import Target
from shared.testing.servers import short_folder
from tests.factories.backups import Backup, back_up
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, see

pytestmark = pytest.mark.stack


async def lying(target: Target, book: Book) -> None:
    backups.check_lying(target, book)


async def everything(target: Target, book: Book) -> None:
    book.checks += await backups.check(target)


@pytest.fixture(scope="module")
def backup(proving: Proving) -> Iterator[Backup]:
    folder = short_folder("holes")
    made = back_up(proving.stack, folder / "made")
    made.folder.chmod(0o755)  # what keeps others out must be the backup's own folder
    until(lambda: follows(proving.stack), 15, "the supervisor follows it", 0.2)
    yield made
    proving.stack.run("backup", "forget", str(made.at))
    shutil.rmtree(folder)


def follows(stack: Stack) -> bool:
    known = stack.status()["backups"]
    return bool(known) and not known[0]["fault"]


def _identity(path: Path) -> None:
    made = path.with_name("made-identity")
    make_identity(made)
    made.rename(path)


@pytest.mark.parametrize("place", [f"{WHOLE}/identity", "id.txt"])
def test_an_identity_beside_what_it_opens_is_found(proving: Proving, backup: Backup, place: str) -> None:
    path = backup.at / place
    see(Hole("identity", lying, "no identity lies in", lambda _: _identity(path), lambda _: path.unlink()), proving.stack)  # fmt: skip


def test_an_identity_in_the_state_directory_is_found(proving: Proving, backup: Backup) -> None:
    path = proving.stack.layout.state / "logs" / "identity"
    see(Hole("identity", lying, "no age identity but", lambda _: _identity(path), lambda _: path.unlink()), proving.stack)  # fmt: skip


def test_a_key_file_beside_it_is_found(proving: Proving, backup: Backup) -> None:
    path, key = backup.at / "decision.key", proving.stack.layout.keys / "console" / "decision.key"
    see(Hole("key", lying, "is encrypted", lambda _: shutil.copyfile(key, path) and None, lambda _: path.unlink()), proving.stack)  # fmt: skip


def test_a_partial_that_everybody_can_read_is_found(proving: Proving, backup: Backup) -> None:
    path = backup.at / PARTIAL

    def plant(_: Stack) -> None:
        path.mkdir()
        path.chmod(0o755)

    see(Hole("partial", lying, f"owner, group, mode: {path}", plant, lambda _: path.rmdir()), proving.stack)


def test_a_backup_that_others_can_enter_is_found(proving: Proving, backup: Backup) -> None:
    def change(folder: int, file: int) -> None:
        for path in (backup.at, backup.at / WHOLE):
            path.chmod(folder)
        (backup.at / WHOLE / NAME).chmod(file)

    open_to_all = Hole("open", everything, f"read: {backup.at / WHOLE / NAME}", lambda _: change(0o755, 0o644), lambda _: change(0o700, 0o600))  # fmt: skip
    see(open_to_all, proving.stack)


def test_a_manifest_that_was_changed_is_found(proving: Proving, backup: Backup) -> None:
    path = backup.at / WHOLE / NAME
    kept = path.read_bytes()
    changed = json.dumps(json.loads(kept) | {"gate_seq": -1}).encode()
    see(Hole("manifest", lying, "is what was signed", lambda _: path.write_bytes(changed) and None, lambda _: path.write_bytes(kept) and None), proving.stack)  # fmt: skip


def test_a_backup_that_no_longer_follows_is_found(proving: Proving, backup: Backup) -> None:
    away = backup.at.with_name("away")

    def plant(stack: Stack) -> None:
        backup.at.rename(away)
        until(lambda: not follows(stack), 15, "it is missed", 0.2)

    def heal(stack: Stack) -> None:
        away.rename(backup.at)
        until(lambda: follows(stack), 15, "it follows again", 0.2)

    see(Hole("away", everything, "its log is written down", plant, heal), proving.stack)
