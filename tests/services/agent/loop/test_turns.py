"""A turn from the message to its row: in order, streamed, followed again, stopped."""

from collections.abc import Callable

from services.agent.owners.domain import Me
from tests.services.agent.loop.conftest import Loop, person


async def test_a_message_is_answered_kept_and_written_down_once(loop: Loop) -> None:
    me = person()
    record = await loop.say(me, "hello")
    assert record.outcome == "ok"
    assert record.reply
    parts = [each.part for each in await loop.conversations.messages(me, record.conversation_id)]
    assert parts == ["user", "reply"]
    assert len(await loop.turn(me, record.turn_id)) == 1
    [row] = await loop.rows(me, record.turn_id)
    assert (row["connector"], row["model"], row["cost"], row["kind"]) == ("", "built-in", 0, "settled")


async def test_of_a_guest_one_line_of_the_ledger_remains(loop: Loop, new_guest: Callable[[], Me]) -> None:
    me = new_guest()
    record = await loop.say(me, "hello")
    assert record.outcome == "ok"
    [row] = await loop.rows(me, record.turn_id)
    assert row["cost"] == 0
    assert await loop.turn(me, record.turn_id) == []
