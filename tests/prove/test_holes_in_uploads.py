"""Holes around files: folders that others enter, documentation that the agent could write, what is put in passing for the owner's own words."""

import os

import pytest

from infra.prove.areas.uploads import PAGE, check, check_reach
from infra.prove.check import Book
from infra.prove.target import Target
from schemas.outward import Owner
from services.agent.memory.domain import folder_of
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, see

pytestmark = pytest.mark.stack
NOBODY = folder_of(Owner(kind="user", id="prove uploads"))
_MARKS = "CREATE FUNCTION core.unmarked() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'\nCREATE TRIGGER unmarked BEFORE INSERT ON core.workspace_marks FOR EACH ROW EXECUTE FUNCTION core.unmarked()"  # fmt: skip
_AGAIN = "DROP TRIGGER unmarked ON core.workspace_marks\nDROP FUNCTION core.unmarked()"


async def all_of_it(target: Target, book: Book) -> None:
    book.checks += await check(target)


def open_home(stack: Stack) -> None:
    facts = stack.layout.workspace.stat()
    home = stack.layout.workspace / NOBODY
    home.mkdir()
    os.chown(home, facts.st_uid, facts.st_gid)
    home.chmod(0o755)
    stack.layout.workspace.chmod(0o711)


def close_home(stack: Stack) -> None:
    (stack.layout.workspace / NOBODY).rmdir()
    stack.layout.workspace.chmod(0o700)


def writable(stack: Stack, mode: int) -> None:
    (Target.load(stack.state).runtime.code / PAGE).chmod(mode)


HOLES = (
    Hole("a person's folder that others list", check_reach, "list: a person's folder", open_home, close_home),
    Hole("documentation that anybody writes", check_reach, "write: the documentation", lambda stack: writable(stack, 0o666), lambda stack: writable(stack, 0o644)),
    by_sql("files that count as the owner's words", all_of_it, "what is put in counts as from outside", "agent_db", _MARKS, _AGAIN),
)  # fmt: skip


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_a_hole_is_found(proving: Proving, hole: Hole) -> None:
    if hole.examine is check_reach and os.geteuid() != 0:
        pytest.skip("without OS users of their own these rows are open")
    see(hole, proving.stack)
