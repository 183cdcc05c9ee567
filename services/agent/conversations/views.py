"""What is read of conversations, messages and turns."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from schemas.outward import Owner
from services.agent.conversations.domain import Conversation, Message
from services.agent.conversations.folding import Wanted
from services.agent.conversations.rows import conversation_of, message_of, nothing_there
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_CONVERSATION = "conversation_id, title, created_at, changed_at, tainted"
_MESSAGE = "number, part, text, at, turn_id, calls, aborted, flagged"
_FIND = f"SELECT {_CONVERSATION} FROM core.conversations WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_LIST = (
    f"SELECT {_CONVERSATION} FROM core.conversations WHERE {_MINE} ORDER BY changed_at DESC, conversation_id LIMIT $3"  # noqa: S608
)
_NEWEST = f"""
SELECT {_MESSAGE} FROM core.messages WHERE {_MINE} AND conversation_id = $3 AND number < $4
ORDER BY number DESC LIMIT $5"""  # noqa: S608
_SEARCH = """
SELECT c.conversation_id, c.title, c.created_at, c.changed_at, c.tainted,
  m.number, m.part, m.text, m.at, m.turn_id, m.calls, m.aborted, m.flagged
FROM core.messages m JOIN core.conversations c USING (owner_kind, owner_id, conversation_id)
WHERE m.owner_kind = $1 AND m.owner_id = $2 AND m.part <> 'tools'
  AND (SELECT coalesce(bool_and(strpos(m.folded, word) > 0), true) FROM unnest($3::text[]) AS word)
  AND (SELECT coalesce(bool_and(strpos(m.text, exact) > 0), true) FROM unnest($4::text[]) AS exact)
ORDER BY m.at DESC, m.number DESC LIMIT $5"""
_TURNS = """
SELECT t.turn_id, t.conversation_id, t.app, t.model, t.started_at, t.ended_at, t.iterations, t.calls, t.cost, t.outcome, t.trace_id,
  x.prompt, x.reply, x.error, x.calls AS asked
FROM core.turns t LEFT JOIN core.turn_texts x USING (owner_kind, owner_id, turn_id)
WHERE t.owner_kind = $1 AND t.owner_id = $2 AND ($3::uuid IS NULL OR t.turn_id = $3)
ORDER BY t.ended_at DESC, t.turn_id LIMIT $4"""
LAST = 2**62


async def find(tx: Tx, owner: Owner, conversation_id: UUID) -> Conversation:
    row = await tx.raw.fetchrow(_FIND, owner.kind, owner.id, conversation_id)
    if row is None:
        raise nothing_there()
    return conversation_of(row)


async def list_conversations(tx: Tx, owner: Owner, limit: int) -> list[Conversation]:
    """The one that changed last comes first."""
    return [conversation_of(row) for row in await tx.raw.fetch(_LIST, owner.kind, owner.id, limit)]


async def newest(tx: Tx, owner: Owner, conversation_id: UUID, before: int | None, limit: int) -> list[Message]:
    """The newest before that number, oldest first."""
    rows = await tx.raw.fetch(_NEWEST, owner.kind, owner.id, conversation_id, before or LAST, limit)
    return [message_of(row) for row in reversed(rows)]


async def search(tx: Tx, owner: Owner, wanted: Wanted, limit: int) -> list[tuple[Conversation, Message]]:
    """Newest first."""
    rows = await tx.raw.fetch(_SEARCH, owner.kind, owner.id, list(wanted.words), list(wanted.exact), limit)
    return [(conversation_of(row), message_of(row)) for row in rows]


async def list_turns(tx: Tx, owner: Owner, limit: int, turn_id: UUID | None = None) -> Sequence[Record]:
    """Newest first; texts are NULL where they were deleted."""
    found: Sequence[Record] = await tx.raw.fetch(_TURNS, owner.kind, owner.id, turn_id, limit)
    return found
