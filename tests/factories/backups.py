"""Backups of a running installation, and what a restore of one needs."""

import base64
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from infra.backup import keyfile
from infra.backup import take as taking
from infra.backup.directory import HEAD, LOG
from infra.backup.sealing import Recipients, make_identity
from tests.factories.stack import Stack, apart
from tests.factories.waiting import until


@dataclass(frozen=True)
class Backup:
    """`folder` holds identity, key file and the backup itself, `at`."""

    folder: Path

    @property
    def at(self) -> Path:
        return self.folder / "backup"

    @property
    def opening(self) -> tuple[str, ...]:
        """The options that open it."""
        return "--keys", str(self.folder / "keys.age"), "--identity", str(self.folder / "identity")

    def log_reaches(self, entries: int) -> bool:
        log = self.at / LOG
        lines = log.read_text().splitlines() if log.exists() else []
        return bool(lines) and json.loads(lines[-1])["to"] >= entries - 1

    def head_reaches(self, entries: int) -> bool:
        said = json.loads(base64.b64decode(json.loads((self.at / HEAD).read_text())["payload"]))
        return bool(said["seq"] >= entries - 1)

    def follows(self, stack: Stack) -> None:
        """Wait until everything that the lock has recorded is written down, and its head after it."""
        entries = stack.ask("bridge", "gate.verify")["entries"]
        until(lambda: self.log_reaches(entries) and self.head_reaches(entries), 20, "the log is followed", 0.2)

    def copy(self, to: Path) -> "Backup":
        """Another one with the same content, to hurt."""
        shutil.copytree(self.folder, to)
        return Backup(to)


def back_up(stack: Stack, folder: Path) -> Backup:
    """Identity, keys and a backup of what runs, as the commands make them."""
    folder.mkdir(mode=0o700, exist_ok=True)
    recipients = Recipients([make_identity(folder / "identity")])
    made = Backup(folder)
    apart(lambda: keyfile.save(taking.source(stack.state), folder / "keys.age", recipients))
    found = apart(lambda: taking.take(stack.state, made.at, recipients, lambda _: None))
    assert found["followed"], found
    return made
