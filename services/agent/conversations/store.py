"""Conversations and messages. Every statement names the owner, though row security would hold it to that anyway."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from uuid import UUID

from schemas.outward import Owner
from services.agent.conversations.domain import Conversation, Message
from services.agent.conversations.folding import fold
from services.agent.conversations.rows import conversation_of, nothing_there
from services.agent.conversations.texts import MOST_REPLY, clean, clean_call, title_of
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_OPEN = """
INSERT INTO core.conversations (owner_kind, owner_id, conversation_id) VALUES ($1, $2, $3)
RETURNING conversation_id, title, created_at, changed_at, tainted"""
_HOLD = f"SELECT messages FROM core.conversations WHERE {_MINE} AND conversation_id = $3 FOR UPDATE"  # noqa: S608
_ADD = f"""
WITH grown AS (
  UPDATE core.conversations SET messages = messages + 1, changed_at = clock_timestamp() WHERE {_MINE} AND conversation_id = $3
  RETURNING messages
)
INSERT INTO core.messages (owner_kind, owner_id, conversation_id, number, part, text, folded, turn_id, calls, aborted, flagged)
SELECT $1, $2, $3, messages, $4, $5, $6, $7, $8, $9, $10 FROM grown RETURNING number, at"""  # noqa: S608
_TAINTED = f"SELECT tainted FROM core.conversations WHERE {_MINE} AND conversation_id = $3 FOR UPDATE"  # noqa: S608
_TAINT = f"UPDATE core.conversations SET tainted = $4 WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_CALL = f"UPDATE core.conversations SET title = $4 WHERE {_MINE} AND conversation_id = $3 AND title = ''"  # noqa: S608
_RENAME = f"UPDATE core.conversations SET title = $4 WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_DELETE_TEXTS = f"DELETE FROM core.turn_texts WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_DELETE = f"DELETE FROM core.conversations WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_FORGET = (
    f"DELETE FROM core.turn_texts WHERE {_MINE}",  # noqa: S608
    f"DELETE FROM core.conversations WHERE {_MINE}",  # noqa: S608
)
MOST_SOURCES = 50
"""Of what a conversation has read, the newest are named."""


async def add_conversation(tx: Tx, owner: Owner, conversation_id: UUID) -> Conversation:
    row = await tx.raw.fetchrow(_OPEN, owner.kind, owner.id, conversation_id)
    assert row is not None
    return conversation_of(row)


async def hold(tx: Tx, owner: Owner, conversation_id: UUID) -> None:
    """Nobody else adds to it, or to its turns, until the transaction ends. NotFound."""
    if await tx.raw.fetchval(_HOLD, owner.kind, owner.id, conversation_id) is None:
        raise nothing_there()


async def add_message(tx: Tx, owner: Owner, conversation_id: UUID, message: Message) -> Message:
    """At the end of the conversation; as it was stored, with its number. NotFound when the conversation is gone."""
    text = clean(message.text)[:MOST_REPLY]
    cleaned = [clean_call(call) for call in message.calls]
    calls = tuple(call for call, _ in cleaned)
    flagged = message.flagged or text != message.text or any(changed for _, changed in cleaned)
    kept = json.dumps([asdict(call) for call in calls], ensure_ascii=False) if message.part == "tools" else None
    row = await tx.raw.fetchrow(
        _ADD, owner.kind, owner.id, conversation_id, message.part, text, fold(text), message.turn_id, kept, message.aborted, flagged
    )  # fmt: skip
    if row is None:
        raise nothing_there()
    return replace(message, number=row["number"], at=row["at"], text=text, calls=calls, flagged=flagged)


async def add_taint(tx: Tx, owner: Owner, conversation_id: UUID, sources: Sequence[str]) -> None:
    kept = await tx.raw.fetchval(_TAINTED, owner.kind, owner.id, conversation_id)
    if kept is None:
        raise nothing_there()
    new = [clean(source)[:500] for source in sources]
    found = [each for each in json.loads(kept) if each not in new]
    merged = list(dict.fromkeys([*found, *new]))[-MOST_SOURCES:]
    await tx.raw.execute(_TAINT, owner.kind, owner.id, conversation_id, json.dumps(merged, ensure_ascii=False))


async def clear_taint(tx: Tx, owner: Owner, conversation_id: UUID) -> None:
    _there(await tx.raw.execute(_TAINT, owner.kind, owner.id, conversation_id, "[]"))


async def call_by(tx: Tx, owner: Owner, conversation_id: UUID, text: str) -> None:
    """Give it a title, unless it has one."""
    await tx.raw.execute(_CALL, owner.kind, owner.id, conversation_id, title_of(text))


async def rename(tx: Tx, owner: Owner, conversation_id: UUID, title: str) -> None:
    _there(await tx.raw.execute(_RENAME, owner.kind, owner.id, conversation_id, title))


async def delete(tx: Tx, owner: Owner, conversation_id: UUID) -> None:
    """With its messages and what its turns said; the turns' figures stay."""
    await tx.raw.execute(_DELETE_TEXTS, owner.kind, owner.id, conversation_id)
    _there(await tx.raw.execute(_DELETE, owner.kind, owner.id, conversation_id))


async def forget(tx: Tx, owner: Owner) -> int:
    """Everything this owner said or was told; how many conversations that were."""
    done = [await tx.raw.execute(statement, owner.kind, owner.id) for statement in _FORGET]
    return int(done[-1].split()[-1])


def _there(status: str) -> None:
    if status.endswith(" 0"):
        raise nothing_there()
