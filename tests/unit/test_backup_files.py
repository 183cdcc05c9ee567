"""What a backup is made of, without a system: sealing, the manifest, the followed log, where a backup may lie."""

import base64
import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infra.backup import directory, entries, gatelog, manifest, sealing
from infra.backup.doing import folder as taking
from infra.backup.gatelog import Place
from infra.backup.manifest import Manifest, Stored
from infra.backup.sealing import Identities, Recipients
from infra.local.layout import Layout
from schemas.statements import GateEntry, GateHead, Withdrawal
from schemas.text import sha256
from shared.clock import now
from shared.errors import Refused
from shared.ids import new_id
from shared.signing import PublicKeys, SigningKey

BACKUP, GATE, DECISION = (SigningKey(bytes([number]) * 32) for number in (1, 2, 3))
KEYS = PublicKeys(
    {duty: {key.key_id: key.public} for duty, key in (("backup", BACKUP), ("gate", GATE), ("decision", DECISION))}
)
START = Place(4, "a" * 64, 7)
Change = Callable[[Path], object]


@pytest.fixture
def opened(tmp_path: Path) -> tuple[Recipients, Identities]:
    recipient = sealing.make_identity(tmp_path / "identity")
    return Recipients([recipient]), Identities.read(tmp_path / "identity")


@pytest.fixture
def whole(tmp_path: Path, opened: tuple[Recipients, Identities]) -> Path:
    """A backup of two small files."""
    folder = tmp_path / "backup" / manifest.WHOLE
    folder.mkdir(parents=True)
    files = {}
    for name, data in (("databases.tar.age", b"d" * 300_000), ("config.age", b"{}")):
        written = opened[0].write(io.BytesIO(data), folder / name)
        files[name] = Stored(size=written.size, sha256=written.sha256, plain=written.plain)
    manifest.write(folder, a_manifest(files), BACKUP)
    return folder


def a_manifest(files: dict[str, Stored], **changed: Any) -> Manifest:
    fields: dict[str, Any] = {
        "install_id": "one", "release": "0.1.0", "state_version": 2, "postgres": "18.6", "at": now(), "gate_seq": 4, "gate_hash": "a" * 64,
        "decision_position": 7, "streams": {"FROM_SITE": (1, 5)}, "databases": {"site_db": 1}, "recipients": ("age1x",), "files": files,
    }  # fmt: skip
    return Manifest(**(fields | changed))


def test_an_identity_is_readable_by_its_owner_alone_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "identity"
    assert sealing.make_identity(path).startswith("age1")
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Refused, match="never overwritten"):
        sealing.make_identity(path)


def test_who_could_not_read_a_backup_is_refused_as_recipient(tmp_path: Path) -> None:
    sealing.make_identity(tmp_path / "identity")
    secret = next(line for line in (tmp_path / "identity").read_text().splitlines() if line.startswith(sealing.SECRET))
    for wrong in ([], ["age1nothing"], ["bob"], [secret]):
        with pytest.raises(Refused):
            Recipients(wrong)
    with pytest.raises(Refused, match="identity"):
        sealing.read_recipients(tmp_path / "identity")


def test_a_stream_comes_back_as_it_was(tmp_path: Path, opened: tuple[Recipients, Identities]) -> None:
    data = os.urandom(3_000_000)
    written = opened[0].write(io.BytesIO(data), tmp_path / "sealed")
    assert (tmp_path / "sealed").stat().st_mode & 0o777 == 0o600
    assert written.sha256 == sha256((tmp_path / "sealed").read_bytes())
    out = io.BytesIO()
    opened[1].pour(tmp_path / "sealed", out)
    assert out.getvalue() == data


def test_what_the_reader_or_the_disk_says_is_what_is_raised(
    tmp_path: Path, opened: tuple[Recipients, Identities]
) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        opened[0].write(Broken(), tmp_path / "sealed")


def test_another_identity_and_a_cut_file_are_told_apart(tmp_path: Path, opened: tuple[Recipients, Identities]) -> None:
    opened[0].write(io.BytesIO(b"x" * 200_000), tmp_path / "sealed")
    sealing.make_identity(tmp_path / "other")
    with pytest.raises(Refused, match="encrypted to others"):
        Identities.read(tmp_path / "other").pour(tmp_path / "sealed", io.BytesIO())
    os.truncate(tmp_path / "sealed", 150_000)
    with pytest.raises(Refused, match="damaged"):
        opened[1].pour(tmp_path / "sealed", io.BytesIO())


def test_a_whole_backup_is_taken_for_one(whole: Path) -> None:
    assert manifest.whole(whole.parent) == whole
    manifest.check_files(whole, manifest.read(whole, KEYS))


def _flip(name: str) -> Change:
    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)

    return change


def _resigned(folder: Path) -> None:
    """By somebody who has another installation's key."""
    found = Manifest.model_validate_json((folder / manifest.NAME).read_bytes())
    manifest.write(folder, found, SigningKey(b"9" * 32))


def _newer(folder: Path) -> None:
    found = json.loads((folder / manifest.NAME).read_bytes())
    (folder / manifest.NAME).write_text(json.dumps(found | {"format": 2}))


HURTS: list[tuple[str, Change, str]] = [
    ("manifest changed", lambda folder: (folder / manifest.NAME).write_bytes((folder / manifest.NAME).read_bytes().replace(b'"gate_seq":4', b'"gate_seq":3')), "not signed"),
    ("manifest gone", lambda folder: (folder / manifest.NAME).unlink(), "no whole backup"),
    ("signature gone", lambda folder: (folder / manifest.SIGNATURE).unlink(), "no whole backup"),
    ("signature of another", _resigned, "not signed"),
    ("signature rubbish", lambda folder: (folder / manifest.SIGNATURE).write_text("?"), "not signed"),
    ("newer format", _newer, "format 2"),
    ("manifest no JSON", lambda folder: (folder / manifest.NAME).write_text("{"), "cannot be read"),
    ("file changed", _flip("databases.tar.age"), "changed or swapped"),
    ("settings changed", _flip("config.age"), "changed or swapped"),
    ("file cut", lambda folder: os.truncate(folder / "databases.tar.age", 1000), "was cut"),
    ("file gone", lambda folder: (folder / "config.age").unlink(), "is missing"),
    ("one more", lambda folder: (folder / "identity").write_text("x"), "does not name"),
    ("link instead", lambda folder: (folder / "config.age").rename(folder.parent / "c") and (folder / "config.age").symlink_to(folder.parent / "c"), "is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("hurt", "says"), [pytest.param(hurt, says, id=name) for name, hurt, says in HURTS])
def test_a_hurt_backup_is_refused_with_what_is_wrong(whole: Path, hurt: Change, says: str) -> None:
    hurt(whole)
    with pytest.raises(Refused, match=says):
        manifest.check_files(whole, manifest.read(whole, KEYS))


def test_a_file_of_another_backup_is_refused(whole: Path, opened: tuple[Recipients, Identities]) -> None:
    (whole / "databases.tar.age").unlink()
    opened[0].write(io.BytesIO(b"e" * 300_000), whole / "databases.tar.age")
    with pytest.raises(Refused, match=r"swapped|belongs to another backup"):
        manifest.check_files(whole, manifest.read(whole, KEYS))


def test_a_half_backup_is_never_taken_for_a_whole_one(tmp_path: Path) -> None:
    (tmp_path / manifest.PARTIAL).mkdir()
    with pytest.raises(Refused, match="never finished"):
        manifest.whole(tmp_path)


def test_where_a_backup_may_not_lie(tmp_path: Path) -> None:
    layout = Layout((tmp_path / "state").resolve())
    layout.state.mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").touch()
    (tmp_path / "everybody").mkdir()
    (tmp_path / "everybody").chmod(0o777)
    (tmp_path / "file").touch()
    cases = {"state/backup": "inside", "state": "inside", ".": "inside", "foreign": "foreign", "everybody/b": "open_parent", "file": "foreign"}  # fmt: skip
    for name, code in cases.items():
        with pytest.raises(Refused) as refused:
            directory.settle(tmp_path / name, layout)
        assert refused.value.code == code, name
    assert directory.settle(tmp_path / "new" / "deeper", layout).stat().st_mode & 0o777 == 0o700


def test_what_a_killed_run_left_goes_and_two_runs_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / manifest.PARTIAL).mkdir()
    (tmp_path / manifest.PARTIAL / "half").write_bytes(b"x" * 1000)
    with directory.held(tmp_path) as partial:
        assert list(partial.iterdir()) == []
        with pytest.raises(Refused, match="just being written"), directory.held(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_an_archive_never_leaves_its_folder(tmp_path: Path) -> None:
    for name in ("../out", "/etc/out"):
        out = io.BytesIO()
        entries.add_bytes(out, name, b"x")
        entries.end(out)
        with pytest.raises(Refused, match="outside"):
            entries.unpack(io.BytesIO(out.getvalue()), tmp_path)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    with pytest.raises(Refused, match="neither file nor folder"):
        entries.unpack(io.BytesIO(out.getvalue()), tmp_path)


class Chain:
    """A gate's log that grows, as `gate.after` tells it."""

    def __init__(self) -> None:
        self.seq, self.hash = START.seq, START.hash

    def entry(self) -> dict[str, Any]:
        statement = DECISION.sign(
            Withdrawal(key_id=DECISION.key_id, item_id=new_id(), decided_at=now(), decider="0" * 64, prior_version=1)
        )
        sealed = GATE.sign(
            GateEntry(key_id=GATE.key_id, seq=self.seq + 1, previous=self.hash, entry="withdrawal", statement_hash=statement.hash, at=now())
        )  # fmt: skip
        self.seq, self.hash = self.seq + 1, sealed.hash
        texts = {"entry": sealed.payload, "signature": sealed.signature, "statement": statement.payload, "statement_signature": statement.signature}  # fmt: skip
        about = {"seq": self.seq, "hash": self.hash, "kind": "withdrawal", "key_id": GATE.key_id, "statement_key_id": DECISION.key_id}  # fmt: skip
        return about | {name: base64.b64encode(raw).decode() for name, raw in texts.items()}

    def head(self, age: timedelta = timedelta(0)) -> dict[str, str]:
        signed = GATE.sign(GateHead(key_id=GATE.key_id, seq=self.seq, head=self.hash, at=now() - age))
        return {
            "payload": base64.b64encode(signed.payload).decode(),
            "signature": base64.b64encode(signed.signature).decode(),
            "key_id": GATE.key_id,
        }


@pytest.fixture
def followed(tmp_path: Path, opened: tuple[Recipients, Identities]) -> Path:
    """Three lines of one entry each, and a head."""
    chain, place = Chain(), START
    for number in range(3):
        found = {"entries": [chain.entry()], "decisions": [{"position": START.decided + 1 + number}]}
        place = gatelog.append(tmp_path, opened[0], found, place)
    gatelog.put_head(tmp_path, chain.head())
    assert place == Place(7, chain.hash, 10)
    return tmp_path


def test_a_followed_log_is_read_back_and_gone_on_with(followed: Path, opened: tuple[Recipients, Identities]) -> None:
    found = gatelog.read(followed, opened[1], KEYS, START)
    assert (len(found.entries), len(found.decisions), found.gap) == (3, 3, "")
    assert found.until is not None and now() - found.until < timedelta(minutes=1)
    assert gatelog.last_place(followed, START).seq == 7
    assert b"withdrawal" not in (followed / directory.LOG).read_bytes(), "encrypted"


def test_a_line_that_a_crash_cut_is_written_again(followed: Path, opened: tuple[Recipients, Identities]) -> None:
    log = followed / directory.LOG
    whole, size = log.read_bytes(), log.stat().st_size
    os.truncate(log, size - 40)
    place = gatelog.last_place(followed, START)
    assert place.seq == 6
    gatelog.append(followed, opened[0], {"entries": gatelog.read(followed, opened[1], KEYS, START).entries[-1:], "decisions": []}, place)  # fmt: skip
    assert log.read_bytes().startswith(whole[: whole.rfind(b"\n", 0, -1) + 1])
    assert len(log.read_bytes().splitlines()) == 3


def _lines(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    log = folder / directory.LOG
    log.write_bytes(b"".join(change(log.read_bytes().splitlines(keepends=True))))


GAPS: list[tuple[str, Change, str]] = [
    ("no log", lambda folder: (folder / directory.LOG).unlink(), "was cut"),
    ("no head", lambda folder: (folder / directory.HEAD).unlink(), "nobody knows"),
    ("end cut", lambda folder: _lines(folder, lambda lines: lines[:-1]), "was cut"),
    ("middle cut", lambda folder: _lines(folder, lambda lines: [lines[0], lines[2]]), "does not go on after entry 5"),
    ("beginning cut", lambda folder: _lines(folder, lambda lines: lines[1:]), "does not go on after entry 4"),
    ("order changed", lambda folder: _lines(folder, lambda lines: [lines[1], lines[0], lines[2]]), "does not go on"),
    ("line changed", lambda folder: _lines(folder, lambda lines: [lines[0], lines[1].replace(b'"sealed": "Y', b'"sealed": "Z'), lines[2]]), "does not go on after entry 5"),
    ("head of another", lambda folder: (folder / directory.HEAD).write_text(json.dumps(Chain().head() | {"key_id": "0" * 16})), "cannot be believed"),
    ("rubbish", lambda folder: (folder / directory.LOG).write_text("rubbish\n"), "does not go on"),
]  # fmt: skip


@pytest.mark.parametrize(("hurt", "says"), [pytest.param(hurt, says, id=name) for name, hurt, says in GAPS])
def test_a_log_that_may_lack_something_is_never_complete(
    followed: Path, opened: tuple[Recipients, Identities], hurt: Change, says: str
) -> None:
    hurt(followed)
    assert says in gatelog.read(followed, opened[1], KEYS, START).gap


def test_a_log_that_does_not_continue_the_backup_is_not_complete(
    followed: Path, opened: tuple[Recipients, Identities]
) -> None:
    found = gatelog.read(followed, opened[1], KEYS, replace(START, hash="b" * 64))
    assert found.entries == []
    assert "does not go on after entry 4" in found.gap


def test_a_file_that_is_still_coming_in_is_in_no_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "workspace" / "user-1"
    home.mkdir(parents=True)
    for name in ("kept.txt", ".part-1"):
        (home / name).write_text(name)
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr(taking, "say", lambda **_: None)
    taking.take(tmp_path / "workspace")
    out.buffer.seek(0)
    with tarfile.open(fileobj=out.buffer) as archive:
        assert archive.getnames() == ["user-1", "user-1/kept.txt"]
    assert not taking._is_identity(home / "gone meanwhile")
