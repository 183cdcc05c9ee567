"""Conversations at work: opening a long one, searching in many. Runs as the agent's OS user, on its database, with the code that it runs.

`python -m infra.bench.conversations_work --state DIR --messages N` prints {"conversation_open_ms", "conversation_search_ms", …}. What it adds belongs
to an owner that nobody is, and is deleted again.
"""

import argparse
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import uvloop

from schemas.outward import Owner
from services.agent.conversations import store
from services.agent.conversations.domain import Message, Part, ToolCall
from services.agent.conversations.fit import fit
from services.agent.conversations.kept import KeptConversations
from services.agent.conversations.usecases.delete_conversation import forget_conversations
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db import Database
from shared.ids import fresh_id
from shared.settings import Settings

TALKS = 4
"""Conversations of that length among which a search looks."""
BATCH, TRIES = 250, 9
BUDGET = 60_000
SAID = "What was agreed about invoices, deliveries and the report of last week. " * 4


async def work(state: Path, messages: int) -> dict[str, Any]:
    db = Database(Settings.load("agent", state), pool_size=2)
    await db.start()
    me = Me(Owner(kind="user", id=str(fresh_id())), "Bench", "viewer")
    kept = KeptConversations(db)
    try:
        talks = [await talk(db, kept, me, messages) for _ in range(TALKS)]
        return await measured(kept, me, talks[-1], messages)
    finally:
        async with db.owned(me.owner) as tx:
            await forget_conversations(tx, me.owner)
        await db.stop()


async def talk(db: Database, kept: KeptConversations, me: Me, messages: int) -> UUID:
    found = (await kept.open(me, None)).conversation_id
    for start in range(0, messages, BATCH):
        async with db.owned(me.owner) as tx:
            for number in range(start, min(start + BATCH, messages)):
                await store.add_message(tx, me.owner, found, _message(number))
    return found


def _message(number: int) -> Message:
    """A question, a tool with its result, an answer."""
    parts: tuple[Part, ...] = ("user", "tools", "reply")
    part, turn = parts[number % 3], UUID(int=number // 3)
    if part == "tools":
        call = ToolCall(str(number), "recall", {"words": "invoices"}, "done", {"found": [SAID]}, "1 line", 3)
        return Message(0, part, "", now(), turn, (call,))
    return Message(0, part, f"{number}: {SAID}", now(), turn)


async def measured(kept: KeptConversations, me: Me, talk_id: UUID, messages: int) -> dict[str, Any]:
    async def opened() -> None:
        await kept.open(me, talk_id)
        assert len(await kept.messages(me, talk_id, limit=messages)) == messages

    async def searched() -> None:
        assert not await kept.search(me, "zebra")

    history = await kept.messages(me, talk_id, limit=messages)

    async def fitted() -> None:
        assert fit(history, BUDGET).left_out

    return {
        "conversation_open_ms": await median(opened),
        "conversation_search_ms": await median(searched),
        "conversation_fit_ms": await median(fitted) if messages >= 1000 else None,
        "conversation_messages": messages,
    }


async def median(act: Callable[[], Awaitable[None]]) -> float:
    """Milliseconds."""
    spent = []
    for _ in range(TRIES):
        began = time.perf_counter()
        await act()
        spent.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(spent), 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--messages", type=int, default=5000)
    given = parser.parse_args()
    print(json.dumps(uvloop.run(work(given.state, given.messages))))


if __name__ == "__main__":
    main()
