"""Holes around workspaces and shared records: folders that others can enter, ways out of them, texts that nobody shares, words that are not the agent's to say."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.prove.areas.lying import check_lying
from infra.prove.areas.memory import check_shared, check_words, check_workspaces
from infra.prove.check import Book
from infra.prove.target import Target
from schemas.outward import Owner
from services.agent.memory.domain import folder_of
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, by_sql, named, run, see
from tests.prove.test_holes_on_the_bus import edited

pytestmark = pytest.mark.stack
NOBODY = folder_of(Owner(kind="user", id="prove"))
_PUT = "INSERT INTO app.shared_records (record_id, kind, title, text, source, shared_by, at, version) VALUES"
_KEPT = """INSERT INTO app.shares (record_id, kind, title, text, source, shared_by, at, version)
 VALUES ('00000000-0000-4000-8000-00000000000a', 'text', 'x', 'x', 'staff', 'x', now(), 1)""".replace("\n", "")
_CLEAN = "DELETE FROM app.shared_records WHERE record_id::text LIKE '00000000-0000-4000-%'"
_CLEAN_SHARES = "DELETE FROM app.shares WHERE record_id::text LIKE '00000000-0000-4000-%'"


def in_a_workspace(name: str, found_by: str, plant: Callable[[Path], None]) -> Hole:
    """Something that lies in a workspace of the agent's."""

    def put(stack: Stack) -> None:
        home = stack.layout.workspace / NOBODY
        home.mkdir(mode=0o700)
        plant(home)
        owner = stack.layout.workspace.stat()
        for path in (home, *home.rglob("*")):
            if path.lstat().st_uid == os.getuid() and path.name != "foreign.md":
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)

    def heal(stack: Stack) -> None:
        shutil.rmtree(stack.layout.workspace / NOBODY)

    return Hole(name, check_workspaces, found_by, put, heal)


def file(name: str, mode: int = 0o600) -> Callable[[Path], None]:
    def make(home: Path) -> None:
        (home / name).write_text("x")
        (home / name).chmod(mode)

    return make


def linked(home: Path) -> None:
    file("a.md")(home)
    os.link(home / "a.md", home / "b.md")


def folder_mode(name: str, mode: int, found_by: str, examine: Examine) -> Hole:
    def set_mode(stack: Stack, to: int) -> None:
        stack.layout.workspace.chmod(to)

    return Hole(name, examine, found_by, lambda stack: set_mode(stack, mode), lambda stack: set_mode(stack, 0o700))


def stray(stack: Stack) -> None:
    place = stack.layout.workspace / "alice"
    place.mkdir(mode=0o700)
    owner = stack.layout.workspace.stat()
    os.chown(place, owner.st_uid, owner.st_gid)


def may_share(text: str) -> str:
    return text.replace('"from.agent.item.proposed"', '"from.agent.item.proposed", "from.agent.record.shared"')


def may_decide(text: str) -> str:
    return text.replace('"from.agent.item.proposed"', '"from.agent.item.proposed", "from.agent.item.decided"')


def _other_words(stack: Stack, text: str = "planted", source: str = "visitor") -> None:
    run(stack, "console_db", _KEPT.replace("'staff'", "'visitor'"))
    run(
        stack,
        "agent_db",
        f"{_PUT} ('00000000-0000-4000-8000-00000000000a', 'text', 'x', '{text}', '{source}', 'x', now(), 1)",
    )


def _nothing(stack: Stack) -> None:
    run(stack, "agent_db", _CLEAN)
    run(stack, "console_db", _CLEAN_SHARES)


async def lying(target: Target, book: Book) -> None:
    check_lying(target, book)


HOLES = [
    folder_mode("a workspace folder that others can enter", 0o755, "workspace", lying),
    in_a_workspace("a link in a workspace", "is a link", lambda home: (home / "out").symlink_to("/etc")),
    in_a_workspace("a file with another name elsewhere", "has another name", linked),
    in_a_workspace("a file that others can read", "is open: 644", file("a.md", 0o644)),
    in_a_workspace("a folder that others can enter", "is open: 755", lambda home: (home / "drafts").mkdir(mode=0o755)),
    in_a_workspace("a file of somebody else's", "belongs to user", file("foreign.md")),
    in_a_workspace("a pipe in a workspace", "neither file nor folder", lambda home: os.mkfifo(home / "pipe")),
    Hole("a folder that is nobody's workspace", check_workspaces, "is nobody's workspace", stray, lambda stack: (stack.layout.workspace / "alice").rmdir()),
    by_sql("a record that nobody shared", check_shared, "nobody shares it", "agent_db", f"{_PUT} ('00000000-0000-4000-8000-000000000001', 'text', 'x', 'planted', 'staff', 'x', now(), 1)", _CLEAN),
    Hole("a record with other words", check_shared, "other words", _other_words, _nothing),
    Hole("a record of a visitor's passed off as the staff's", check_shared, "other words", lambda stack: _other_words(stack, "x", "staff"), _nothing),
    edited("the agent may share records with itself", may_share, "from.agent.record.shared", check_words),
    edited("the agent may publish a decision", may_decide, "from.agent.item.decided", check_words),
]  # fmt: skip


FIRST = (0, 1, 8, 9)
"""Of each kind one is planted in `make test`, all others in the long run."""


@pytest.mark.parametrize("hole", named([HOLES[at] for at in FIRST]))
def test_a_planted_hole_is_found_and_nothing_else(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named([hole for at, hole in enumerate(HOLES) if at not in FIRST]))
def test_every_other_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
