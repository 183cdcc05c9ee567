"""Holes around sealed secrets: files that are not sealed, or not what was signed for, and lists that could show a value."""

import base64
import json
import os
from collections.abc import Callable
from urllib.parse import quote

import pyrage
import pytest

from infra.prove.areas.secrets import check_folder, check_shown
from schemas.text import sha256
from shared.sealing import read_place, read_recipient, seal
from tests.factories.leaks import MARKS, hunt
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, by_sql, named, see

pytestmark = pytest.mark.stack
PLAIN = b"sk-a-key-that-somebody-left-here"
_ROW = """INSERT INTO app.secrets (place, surface, connector, owner, name, type, state, current, versions, public, operations, statement_hash, at, version)
 VALUES ('agent/x/y', 'agent', 'x', '', 'y', 'basic', 'active', 1, '[]', '{"password": "planted"}', '[]', '', now(), 1)"""


def a_file(
    name: str, found_by: str, make: Callable[[Stack], bytes], path: str = "", examine: Examine = check_folder
) -> Hole:
    """A file of the connectors' own among the sealed ones."""

    def plant(stack: Stack) -> None:
        raw = make(stack)
        place = stack.layout.secrets / (path or f"{sha256(raw)}.age")
        place.write_bytes(raw)
        owner = stack.layout.secrets.stat()
        os.chown(place, owner.st_uid, owner.st_gid)
        place.chmod(0o600)

    def heal(stack: Stack) -> None:
        for each in stack.layout.secrets.iterdir():
            each.unlink()

    return Hole(name, examine, found_by, plant, heal)


def sealed(stack: Stack) -> bytes:
    return seal(read_recipient(stack.layout.public_keys), read_place("agent/x/y"), "api_key", {"key": "planted"})


def token(stack: Stack) -> bytes:
    raw = json.dumps({"label": "agent/x/y v1", "access": "planted", "refresh": "", "expires_at": None}).encode()
    sealed_token: bytes = pyrage.encrypt(
        raw, [pyrage.x25519.Recipient.from_str(read_recipient(stack.layout.public_keys))]
    )
    return sealed_token


HOLES = [
    a_file("a value that is not sealed", "it is not sealed", lambda _: PLAIN),
    a_file("a secret that nobody signed for", "belongs to a signed statement", sealed),
    by_sql("a list that shows a value", check_shown, "among what may be shown", "console_db", _ROW.replace("\n", ""), "DELETE FROM app.secrets WHERE place = 'agent/x/y'"),
]  # fmt: skip
MORE = [
    a_file("a value beside the sealed ones", "it is not sealed", lambda _: PLAIN, "key.txt"),
    a_file("an access token for anybody", "no access token that the connectors kept", sealed, f"{'0' * 32}.token"),
    a_file("an access token under another secret's name", "another secret's access token", token, f"{'1' * 32}.token"),
    a_file("a file under another hash", "its name is not its hash", sealed, f"{'0' * 64}.age"),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
def test_the_hunt_at_the_end_of_a_run_finds_what_it_is_for(proving: Proving) -> None:
    """Here, where no other test's hunt comes by: what was once in a database stays in its files for a while."""
    stack, value = proving.stack, f"{MARKS[0]}{MARKS[1]}"
    assert hunt(stack) == []
    encoded = base64.b64encode(f"user:{value}".encode()).decode()
    by_sql("", check_shown, "", "console_db", f"COMMENT ON TABLE app.secrets IS '{encoded}'", "").plant(stack)
    log = stack.layout.logs / "planted.log"
    log.write_text(f"Traceback: {quote(value)}\n")
    found = " ".join(hunt(stack))
    log.unlink()
    assert "planted.log" in found and "database of console" in found
    stack.ask("console", "people.invite", role="viewer", name=value)
    assert "page /people" in hunt(stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
