"""Conversations laid open behind the agent's back: prove finds what could then be rewritten or read."""

from collections.abc import Callable

import pytest

from infra.prove.areas.conversations import check_belongings, check_rows
from infra.prove.check import Book
from tests.prove.conftest import Proving
from tests.prove.fakes import Reply, Request, front
from tests.prove.planting import Hole, by_sql, named, see

_KEY = "owner_kind, owner_id, conversation_id"


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def rewritable(name: str, found_by: str, table: str, column: str) -> Hole:
    return hole(
        name, found_by,
        f"GRANT UPDATE ({column}) ON core.{table} TO agent\nALTER TABLE core.{table} DISABLE TRIGGER no_change",
        f"REVOKE UPDATE ({column}) ON core.{table} FROM agent\nALTER TABLE core.{table} ENABLE ALWAYS TRIGGER no_change",
    )  # fmt: skip


def asleep(name: str, found_by: str, trigger: str) -> Hole:
    return hole(
        name, found_by,
        f"ALTER TABLE core.messages DISABLE TRIGGER {trigger}",
        f"ALTER TABLE core.messages ENABLE ALWAYS TRIGGER {trigger}",
    )  # fmt: skip


HOLES = [
    rewritable("messages that can be rewritten", "rewrite a message", "messages", "text"),
    rewritable("figures of a turn that can be rewritten", "rewrite what a turn cost", "turns", "cost"),
    rewritable("a turn's record that can be rewritten", "rewrite what a turn's record says", "turn_texts", "reply"),
    asleep("messages that go alone", "delete a message and keep its conversation", "only_with_conversation"),
    asleep("messages out of their order", "a message behind a gap", "next_message"),
    hole("turns that say when they were", "a turn with a time of its own", "GRANT INSERT (ended_at) ON core.turns TO agent", "REVOKE INSERT (ended_at) ON core.turns FROM agent"),
    hole("messages that are everybody's", "a message of another owner", "ALTER TABLE core.messages DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.messages ENABLE ROW LEVEL SECURITY"),
    hole("conversations that everybody reads", "read another owner's conversation", "CREATE POLICY open ON core.conversations FOR SELECT USING (true)", "DROP POLICY open ON core.conversations"),
    hole("messages without their conversation", "a message in another owner's conversation", "ALTER TABLE core.messages DROP CONSTRAINT messages_conversation", f"ALTER TABLE core.messages ADD CONSTRAINT messages_conversation FOREIGN KEY ({_KEY}) REFERENCES core.conversations ({_KEY}) ON DELETE CASCADE"),
]  # fmt: skip


@pytest.mark.stack
@pytest.mark.parametrize("planted", named(HOLES))
def test_a_planted_hole_in_conversations_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)


def sound(request: Request) -> Reply:
    return (403, {}, "") if request.headers.get("Origin") else (401, {}, "")


def obeys_anybody(request: Request) -> Reply:
    return (200, {}, "{}")


def obeys_other_sites(request: Request) -> Reply:
    return (200, {}, "{}") if request.headers.get("Origin") else (401, {}, "")


@pytest.mark.parametrize(("answers", "found"), [(sound, 0), (obeys_anybody, 5), (obeys_other_sites, 2)])
async def test_a_workspace_that_gives_away_what_it_keeps_is_found(
    answers: Callable[[Request], Reply], found: int
) -> None:
    book = Book("test")
    with front(answers) as base:
        await check_belongings(book, base)
    assert sum(not each.ok for each in book.checks) == found, [str(each) for each in book.checks]
