"""Files that are put in through nginx: handed on as they come, and no larger than 200 MB (rule 14)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.cli.access import make_access
from tests.factories.edge import Gate
from tests.factories.people import OWNER, Person
from tests.factories.stack import Stack, apart

pytestmark = pytest.mark.stack
PUT = "/api/v1/files/content"
MUCH = 6 * 1024 * 1024


@pytest.fixture(scope="module")
def me(fronted: tuple[Gate, Stack], boss: Person) -> dict[str, str]:
    _, stack = fronted
    made = apart(lambda: make_access(stack.state, "token", OWNER, "test"))
    return {"Authorization": f"Bearer {made['key']}"}


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536):
        yield b"x" * 65536


def test_a_file_goes_through_nginx_and_comes_back(fronted: tuple[Gate, Stack], me: dict[str, str]) -> None:
    """Larger than any other request may be, and of a length that nobody says before."""
    client = fronted[0].client("workspace", headers=me)
    put = client.put(PUT, params={"path": "uploads/much.bin"}, content=pieces(MUCH))
    assert put.status_code == 201, put.text
    path = put.json()["path"]
    back = client.get(PUT, params={"path": path}).content
    assert hashlib.sha256(back).digest() == hashlib.sha256(b"x" * MUCH).digest()
    assert client.delete("/api/v1/files", params={"path": path}).json() == {"files": 1}


def test_more_than_200_mb_are_turned_away_at_the_gate(fronted: tuple[Gate, Stack], me: dict[str, str]) -> None:
    """By what the request says of itself, before all of it has come."""
    client = fronted[0].client("workspace", headers={**me, "Content-Length": str(300 << 20)})
    put = client.put(PUT, params={"path": "uploads/too-much.bin"}, content=pieces(300 << 20))
    assert put.status_code == 413


def test_only_there_may_a_request_be_large(fronted: tuple[Gate, Stack], me: dict[str, str]) -> None:
    client = fronted[0].client("workspace", headers=me)
    assert client.post("/api/v1/turns", content=b"x" * (3 << 20)).status_code == 413


def test_what_comes_in_never_stands_on_the_disk_of_nginx(fronted: tuple[Gate, Stack], me: dict[str, str]) -> None:
    gate, seen = fronted[0], set[Path]()

    def looked_at() -> Iterator[bytes]:
        for piece in pieces(MUCH):
            seen.update(each for each in gate.home.rglob("*") if "body" in str(each.parent) and each.is_file())
            yield piece

    client = gate.client("workspace", headers=me)
    put = client.put(PUT, params={"path": "uploads/passing.bin"}, content=looked_at())
    assert put.status_code == 201 and seen == set()
