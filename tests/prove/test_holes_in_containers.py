"""Area containers finds what a container must not be, from what it says of itself and who wrote it (S9)."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.docker import facts
from infra.prove.areas.containers import Design, examine
from infra.prove.check import Book

MUST = Design(os.getuid(), {os.getuid(), 8420}, {"/state/run/site"}, {"10.84.2.3:8421"}, way_out=False)
GOOD: dict[str, Any] = {
    "uid": [os.getuid()], "gid": [os.getuid()], "groups": [8420], "capabilities": {"CapEff": 0, "CapBnd": 0}, "no_new_privileges": True, "seccomp": True,
    "read_only_root": True, "writable": ["/state/run/site"], "way_out": False, "listens": ["10.84.2.3:8421"], "at": 0.0,
}  # fmt: skip
HOLES: dict[str, tuple[dict[str, Any], str]] = {
    "a wrong uid": ({"uid": [8422]}, "its user"),
    "a saved uid of root": ({"uid": [os.getuid(), os.getuid() + 7]}, "its user"),
    "a wrong gid": ({"gid": [os.getuid() + 7]}, "its group"),
    "a group more": ({"groups": [8420, 4]}, "no other groups"),
    "a capability": ({"capabilities": {"CapEff": 0, "CapBnd": 1 << 21}}, "no capabilities"),
    "new privileges": ({"no_new_privileges": False}, "no privileges"),
    "no filter": ({"seccomp": False}, "filtered"),
    "a writable root": ({"read_only_root": False}, "read-only"),
    "another's folder": ({"writable": ["/state/run/site", "/state/keys/bridge"]}, "own places"),
    "a way out": ({"way_out": True}, "way out"),
    "a listener": ({"listens": ["10.84.2.3:8421", "0.0.0.0:22"]}, "listens only"),
    "an old word": ({"at": -1000.0}, "what it is now"),
}


def _failures(folder: Path, said: dict[str, Any], must: Design = MUST) -> list[str]:
    facts.write(folder, said | {"at": time.time() + said["at"]})
    book = Book("containers")
    examine(book, "site", folder, must, time.time())
    return [check.attempt for check in book.checks if check.failed]


def test_a_container_as_designed_has_no_fault(tmp_path: Path) -> None:
    assert _failures(tmp_path, GOOD) == []


@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_found(tmp_path: Path, name: str) -> None:
    wrong, found_by = HOLES[name]
    failed = _failures(tmp_path, GOOD | wrong)
    assert len(failed) == 1 and found_by in failed[0], failed


def test_what_a_container_with_a_wrong_uid_claims_does_not_count(tmp_path: Path) -> None:
    """It says the right number; the file's owner is the kernel's word."""
    must = Design(os.getuid() + 1, {os.getuid() + 1, 8420}, MUST.writable, MUST.listens, way_out=False)
    claims = GOOD | {"uid": [os.getuid() + 1], "gid": [os.getuid() + 1]}
    assert _failures(tmp_path, claims, must) == ["container: who wrote what it says (the kernel's word)"]


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_text("{"), _link])
def test_silence_is_a_failure(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    facts.write(tmp_path, GOOD)
    spoil(tmp_path / facts.NAME)
    book = Book("containers")
    examine(book, "site", tmp_path, MUST, time.time())
    assert [check.failed for check in book.checks] == [True]


def test_the_file_is_json_that_anybody_can_read(tmp_path: Path) -> None:
    facts.write(tmp_path, facts.gather())
    path = tmp_path / facts.NAME
    assert json.loads(path.read_text())["uid"] and path.stat().st_mode & 0o777 == 0o644
