"""Conversations on a real database: the order of turns, what a crash leaves, and that nothing of them is anybody else's."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from decimal import Decimal
from itertools import groupby
from uuid import UUID

import asyncpg
import pytest

from schemas.outward import Owner
from services.agent.conversations.domain import MAX_MESSAGE, Message, ToolCall, TurnRecord
from services.agent.conversations.kept import KeptConversations
from services.agent.conversations.recovery import Recovery
from services.agent.conversations.usecases.delete_conversation import forget_conversations
from services.agent.conversations.views import list_turns
from services.agent.owners.domain import Me
from services.agent.tables import app
from shared.clock import now
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.errors import Conflict, NotFound, Refused, TooLarge, TooMany
from shared.ids import fresh_id
from shared.testing.servers import Servers
from tests.factories.stack import ROOT


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=6)
    await found.start()
    await create_missing(found, app)
    yield found
    await found.stop()


@pytest.fixture(scope="module")
def kept(db: Database) -> KeptConversations:
    return KeptConversations(db)


@pytest.fixture
async def instances(db: Database) -> AsyncIterator[tuple[KeptConversations, KeptConversations]]:
    """Two that hear of each other by the database alone."""
    notices = [Notices(db, several=True) for _ in range(2)]
    first, second = (KeptConversations(db, each) for each in notices)
    for each in notices:
        await each.start()
    yield first, second
    for each in notices:
        await each.stop()


def somebody() -> Me:
    return Me(Owner(kind="user", id=str(fresh_id())), "Kim", "member")


def record(turn_id: UUID, conversation_id: UUID, reply: str = "Done.", **more: object) -> TurnRecord:
    return TurnRecord(turn_id, conversation_id, "chat", "built-in", "hello", now(), reply=reply, **more)  # type: ignore[arg-type]


async def begun(kept: KeptConversations, me: Me, conversation_id: UUID, text: str = "hello") -> UUID:
    turn_id = fresh_id()
    await kept.begin(me, conversation_id, turn_id, text, "chat")
    return turn_id


async def test_a_turn_is_kept_from_its_message_to_its_row(kept: KeptConversations, db: Database) -> None:
    me = somebody()
    chat = (await kept.open(me, None)).conversation_id
    turn = await begun(kept, me, chat, "Grüße \\u0000 aus C:\\u0041bc")
    history = await kept.start(me, chat, turn)
    assert [message.text for message in history] == ["Grüße \\u0000 aus C:\\u0041bc"]
    call = ToolCall("1", "recall", {"words": "x"}, "done", {"found": ["a\x00b", "\\u0000"]}, "1 line", 3)
    await kept.calling(me, chat, turn, [call])
    await kept.called(me, chat, turn, [call])
    await kept.end(me, record(turn, chat, "So\ud800.", calls=[call], cost=Decimal("0.00000004"), iterations=2))
    said = await kept.messages(me, chat)
    assert [(each.number, each.part, each.flagged) for each in said] == [(1, "user", False), (2, "tools", True), (3, "reply", True)]  # fmt: skip
    assert said[1].calls[0].result == {"found": ["a\ufffdb", "\\u0000"]} and said[2].text == "So\ufffd."
    async with db.owned(me.owner) as tx:
        (row,) = await list_turns(tx, me.owner, 10)
    assert (row["outcome"], row["cost"], row["calls"], row["prompt"]) == ("ok", Decimal("0.00000004"), 1, "hello")
    with pytest.raises(Conflict):
        await kept.end(me, record(turn, chat))


async def test_what_a_person_sends_is_checked(kept: KeptConversations) -> None:
    me = somebody()
    chat = (await kept.open(me, None)).conversation_id
    for text, error in (("a\x00b", Refused), ("\ud800", Refused), ("  ", Refused), ("ä" * MAX_MESSAGE, TooLarge)):
        with pytest.raises(error):
            await begun(kept, me, chat, text)
    assert await kept.messages(me, chat) == []


async def test_cv_02_one_turn_at_a_time_and_eight_wait(instances: tuple[KeptConversations, KeptConversations]) -> None:
    """Also when they came by two instances (CV-02)."""
    me, (kept, other) = somebody(), instances
    chat = (await kept.open(me, None)).conversation_id
    first = await begun(kept, me, chat)
    await kept.start(me, chat, first)
    waiting = [await begun(other if number % 2 else kept, me, chat, str(number)) for number in range(8)]
    with pytest.raises(TooMany) as busy:
        await begun(other, me, chat)
    assert busy.value.code == "busy"

    async def work(by: KeptConversations, turn: UUID) -> None:
        await by.start(me, chat, turn)
        for _ in range(2):
            call = ToolCall(fresh_id().hex, "wait", {"turn": str(turn)}, "done", str(turn))
            await by.calling(me, chat, turn, [call])
            await asyncio.sleep(0)
            await by.called(me, chat, turn, [call])
        await by.end(me, record(turn, chat, str(turn)))

    running = [asyncio.create_task(work(other if number % 2 else kept, turn)) for number, turn in enumerate(waiting)]
    await asyncio.sleep(0.05)
    assert not any(each.done() for each in running)
    await kept.end(me, record(first, chat))
    await asyncio.gather(*running)
    turns = [each.turn_id for each in await kept.messages(me, chat)]
    assert turns == [first, first] + [turn for turn in waiting for _ in range(4)]


async def test_cv_03_a_crash_leaves_a_usable_history(kept: KeptConversations, db: Database) -> None:
    """Killed after the call is stored and before its result; killed between result and reply; and one that waited (CV-03)."""
    me, dead = somebody(), KeptConversations(db)
    chats = [(await kept.open(me, None)).conversation_id for _ in range(2)]
    call = ToolCall("1", "send", {"to": "a"}, "done", "sent")
    turns = [await begun(dead, me, chat, "do it") for chat in chats]
    for chat, turn in zip(chats, turns, strict=True):
        await dead.start(me, chat, turn)
        await dead.calling(me, chat, turn, [call])
    await dead.called(me, chats[1], turns[1], [call])
    await dead.saying(me, turns[1], "I have")
    await begun(dead, me, chats[0], "and then?")

    async def settle(owner: Owner, turn_id: UUID) -> Decimal | None:
        return Decimal("0.5") if owner == me.owner and turn_id in turns else None

    recovery = Recovery(db, kept, "agent", settle)
    await recovery.start()
    await recovery.stop()
    interrupted, done = [await kept.messages(me, chat) for chat in chats]
    assert [each.part for each in interrupted] == ["user", "tools", "reply", "user", "reply"]
    assert interrupted[1].calls[0].state == "interrupted" and interrupted[2].aborted
    assert [(each.part, each.text, each.aborted) for each in done] == [("user", "do it", False), ("tools", "", False), ("reply", "I have", True)]  # fmt: skip
    async with db.owned(me.owner) as tx:
        rows = await list_turns(tx, me.owner, 10)
    assert {row["outcome"] for row in rows} == {"aborted"} and len(rows) == 3
    with pytest.raises(Conflict):
        await dead.end(me, record(turns[0], chats[0]))
    again = await begun(kept, me, chats[0])
    assert len(await kept.start(me, chats[0], again)) == 6
    await kept.end(me, record(again, chats[0]))


async def test_turns_of_another_part_are_closed_once_it_is_silent(kept: KeptConversations, db: Database) -> None:
    me, other = somebody(), KeptConversations(db)
    chat = (await kept.open(me, None)).conversation_id
    turn, later = await begun(other, me, chat), await begun(kept, me, chat)
    last = await begun(other, me, chat)
    await other.start(me, chat, turn)
    alive, recovery = Recovery(db, other, "agent-2", settled), Recovery(db, kept, "agent", settled)
    await alive.start()
    await alive.stop()
    assert await recovery.close_left_behind() == 0
    async with db.transaction() as tx:
        await tx.raw.execute("UPDATE app.turn_workers SET seen_at = seen_at - interval '1 minute' WHERE worker = $1", other.worker)  # fmt: skip
    assert await recovery.close_left_behind() == 1
    with pytest.raises(Conflict):
        await other.called(me, chat, turn, [ToolCall("1", "x", {}, "done")])
    assert [each.part for each in await kept.messages(me, chat)] == ["user", "reply"]
    await kept.start(me, chat, later)
    assert await recovery.close_left_behind() == 0, "what waits behind a living turn is not closed in the middle of it"
    await kept.end(me, record(later, chat))
    assert await recovery.close_left_behind() == 1
    assert [each.turn_id for each in await kept.messages(me, chat)] == [turn, turn, later, later, last, last]


async def test_a_killed_process_leaves_one_row(kept: KeptConversations, db: Database, servers: Servers) -> None:
    """A real one, killed with a transaction open; whoever starts next closes what it left."""
    me = somebody()
    chat, turn = (await kept.open(me, None)).conversation_id, fresh_id()
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WORKER, str(servers.state), me.owner.id, str(chat), str(turn), stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )  # fmt: skip
    assert worker.stdout is not None and await worker.stdout.readline() == b"working\n"
    worker.kill()
    await worker.wait()
    recovery = Recovery(db, kept, "agent", settled)
    await recovery.close_left_behind()
    said = await kept.messages(me, chat)
    assert [each.part for each in said] == ["user", "tools", "reply"]
    assert said[1].calls[0].state == "interrupted" and (said[2].text, said[2].aborted) == ("I will", True)
    async with db.owned(me.owner) as tx:
        (row,) = await list_turns(tx, me.owner, 10)
    assert (row["outcome"], row["cost"]) == ("aborted", Decimal("0.25"))


async def test_turns_of_any_fate_leave_whole_histories(
    instances: tuple[KeptConversations, KeptConversations], db: Database
) -> None:
    """At two living instances and some that die anywhere: answered, stopped, never begun, taken for dead while they live."""
    rng, me, accepted = random.Random(7), somebody(), []
    chats = [(await instances[0].open(me, None)).conversation_id for _ in range(6)]
    watching = [Recovery(db, each, part, settled) for each, part in zip(instances, ("agent", "agent-2"), strict=True)]
    for each in watching:
        await each.start()

    async def live(number: int) -> None:
        dies = rng.random() if number % 4 == 0 else 1.0
        by, chat, turn = KeptConversations(db) if dies < 1 else rng.choice(instances), rng.choice(chats), fresh_id()
        with suppress(TooMany, Conflict):
            await by.begin(me, chat, turn, str(number), "chat")
            accepted.append(turn)
            if dies < 0.2:
                return
            if number % 7 == 0:
                await by.end(me, record(turn, chat), aborted=True)
                return
            await by.start(me, chat, turn)
            for at in range(number % 3):
                call = ToolCall(f"{number} {at}", "wait", {}, "done", at)
                await by.calling(me, chat, turn, [call])
                if dies < 0.5:
                    return
                await by.called(me, chat, turn, [call])
            if dies == 1:
                await by.end(me, record(turn, chat, "" if number % 5 else "Done."), aborted=number % 5 == 1)

    await asyncio.gather(*(live(number) for number in range(60)))
    for _ in range(100):
        async with db.owned(me.owner) as tx:
            if not await tx.raw.fetchval("SELECT count(*) FROM core.open_turns"):
                break
        await watching[0].close_left_behind()
    for each in watching:
        await each.stop()
    told = {chat: [(each.turn_id, each.part) for each in await kept_of(instances[0], me, chat)] for chat in chats}
    for said in told.values():
        turns = [turn for turn, _ in groupby(said, key=lambda each: each[0])]
        assert len(turns) == len(set(turns)), "turns mix"
        for turn in turns:
            parts = [part for of, part in said if of == turn]
            assert parts[0] == "user" and set(parts[1:-1]) <= {"tools"} and parts[-1] in ("user", "tools", "reply")
    async with db.owned(me.owner) as tx:
        rows = await list_turns(tx, me.owner, 1000)
    assert sorted(row["turn_id"] for row in rows) == sorted(accepted) and len(accepted) > 30


async def kept_of(kept: KeptConversations, me: Me, chat: UUID) -> list[Message]:
    return list(await kept.messages(me, chat, limit=1000))


async def settled(owner: Owner, turn_id: UUID) -> Decimal | None:
    return Decimal("0.25")


WORKER = """
import asyncio, sys
from pathlib import Path
from uuid import UUID
from schemas.outward import Owner
from services.agent.conversations.domain import ToolCall
from services.agent.conversations.kept import KeptConversations
from services.agent.owners.domain import Me
from shared.db import Database
from shared.settings import Settings

async def work(state, owner, chat, turn):
    db = Database(Settings.load("agent", Path(state)), pool_size=2)
    await db.start()
    me, kept = Me(Owner(kind="user", id=owner), "Kim", "member"), KeptConversations(db)
    await kept.begin(me, chat, turn, "do it", "chat")
    await kept.start(me, chat, turn)
    await kept.saying(me, turn, "I will")
    await kept.calling(me, chat, turn, [ToolCall("1", "send", {"to": "a"}, "done")])
    async with db.owned(me.owner) as tx:
        await tx.raw.execute("UPDATE core.open_turns SET calls = '[]'")
        print("working", flush=True)
        await asyncio.sleep(60)

asyncio.run(work(sys.argv[1], sys.argv[2], UUID(sys.argv[3]), UUID(sys.argv[4])))
"""


async def test_words_are_found_and_nothing_is_a_pattern(kept: KeptConversations) -> None:
    me, other = somebody(), somebody()
    for who, texts in (
        (me, ["Müller zahlt 50%_off", "MUELLER C:\\temp 'x'", "数据库备份"]),
        (other, ["Müller geheim 50%_off"]),
    ):
        chat = (await kept.open(who, None)).conversation_id
        for text in texts:
            turn = await begun(kept, who, chat, text)
            await kept.start(who, chat, turn)
            await kept.end(who, record(turn, chat, ""))

    async def found(words: str) -> list[str]:
        return [message.text for _, message in await kept.search(me, words)]

    assert len(await found("mueller")) == len(await found("MÜLLER")) == 2
    assert (
        await found('"Müller"')
        == await found("50%_off")
        == await found("%")
        == await found("_")
        == ["Müller zahlt 50%_off"]
    )
    assert await found("\\") == await found("'") == ["MUELLER C:\\temp 'x'"]
    assert await found("备份") == ["数据库备份"] and len(await found("")) == 3
    for bad in ("x" * 10_000, "a\x00"):
        with pytest.raises(Refused):
            await found(bad)


async def test_another_owners_conversation_is_none(kept: KeptConversations, db: Database) -> None:
    me, other = somebody(), somebody()
    chat = (await kept.open(me, None)).conversation_id
    for attempt in (
        kept.open(other, chat), kept.messages(other, chat), kept.rename(other, chat, "x"), kept.delete(other, chat),
        kept.note(other, chat, "x"), kept.taint(other, chat, ["x"]), kept.clear(other, chat), kept.begin(other, chat, fresh_id(), "x", "chat"),
    ):  # fmt: skip
        with pytest.raises(NotFound, match="no such conversation"):
            await attempt
    assert await kept.list(other) == [] and (await kept.list(me))[0].conversation_id == chat


async def test_what_was_said_is_never_rewritten(kept: KeptConversations, db: Database) -> None:
    me = somebody()
    chat = (await kept.open(me, None)).conversation_id
    turn = await begun(kept, me, chat)
    await kept.start(me, chat, turn)
    await kept.end(me, record(turn, chat))
    for statement in (
        "UPDATE core.messages SET text = 'x'", "DELETE FROM core.messages", "UPDATE core.turns SET cost = 0", "DELETE FROM core.turns",
        "UPDATE core.turn_texts SET reply = 'x'", "TRUNCATE core.messages CASCADE",
    ):  # fmt: skip
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with db.owned(me.owner) as tx:
                await tx.raw.execute(statement)
    assert len(await kept.messages(me, chat)) == 2


async def test_words_can_be_deleted_and_figures_stay(kept: KeptConversations, db: Database) -> None:
    me = somebody()
    chats = [(await kept.open(me, None)).conversation_id for _ in range(2)]
    running = []
    for chat in chats:
        turn = await begun(kept, me, chat)
        await kept.start(me, chat, turn)
        await kept.end(me, record(turn, chat, "secret"))
        running.append(await begun(kept, me, chat))
    await kept.delete(me, chats[0])
    with pytest.raises(Conflict):
        await kept.start(me, chats[1], running[0])
    async with db.owned(me.owner) as tx:
        assert await forget_conversations(tx, me.owner) == (1, [chats[1]])
        rows = await list_turns(tx, me.owner, 10)
        left = [await tx.raw.fetchval(f"SELECT count(*) FROM core.{name}") for name in ("conversations", "messages", "open_turns")]  # fmt: skip
    assert left == [0, 0, 0]
    assert len(rows) == 4 and {(row["prompt"], row["reply"]) for row in rows if row["outcome"] == "ok"} == {
        (None, None)
    }


async def test_taint_is_kept_newest_last_until_it_is_cleared(kept: KeptConversations) -> None:
    me = somebody()
    chat = (await kept.open(me, None)).conversation_id
    await kept.taint(me, chat, ["https://a.example", "file x.md"])
    await kept.taint(me, chat, ["https://a.example"])
    assert (await kept.open(me, chat)).tainted == ("file x.md", "https://a.example")
    await kept.clear(me, chat)
    assert (await kept.open(me, chat)).tainted == ()
