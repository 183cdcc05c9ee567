"""Turns that wait and run, and the row that each leaves."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.outward import Owner
from services.agent.conversations.domain import ToolCall, TurnRecord
from services.agent.conversations.rows import calls_of
from services.agent.conversations.texts import clean, clean_call, clean_value
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_OPEN = "turn_id, conversation_id, state, app, text, calls, reply, begun_at, started_at"
_WAITING = f"SELECT count(*) FROM core.open_turns WHERE {_MINE} AND conversation_id = $3"  # noqa: S608
_ADD = f"""
WITH named AS (INSERT INTO app.open_turn_owners (turn_id, owner_kind, owner_id, worker) VALUES ($4, $1, $2, $7))
INSERT INTO core.open_turns (owner_kind, owner_id, conversation_id, turn_id, text, app, place)
SELECT $1, $2, $3, $4, $5, $6, coalesce(max(place), 0) + 1 FROM core.open_turns WHERE {_MINE} AND conversation_id = $3"""  # noqa: S608
_FIRST = f"SELECT turn_id FROM core.open_turns WHERE {_MINE} AND conversation_id = $3 ORDER BY place LIMIT 1"  # noqa: S608
_IS_THERE = f"SELECT state FROM core.open_turns WHERE {_MINE} AND turn_id = $3"  # noqa: S608
_START = f"""
UPDATE core.open_turns SET state = 'running', started_at = clock_timestamp()
WHERE {_MINE} AND turn_id = $3 AND state = 'waiting' AND place = (
  SELECT min(place) FROM core.open_turns WHERE {_MINE} AND conversation_id = $4
) RETURNING text"""  # noqa: S608
_CALLS = f"SELECT calls FROM core.open_turns WHERE {_MINE} AND turn_id = $3 AND state = 'running' FOR UPDATE"  # noqa: S608
_SET_CALLS = f"UPDATE core.open_turns SET calls = $4 WHERE {_MINE} AND turn_id = $3"  # noqa: S608
_SET_REPLY = f"UPDATE core.open_turns SET reply = $4 WHERE {_MINE} AND turn_id = $3 AND state = 'running'"  # noqa: S608
_TAKE = f"""
WITH named AS (DELETE FROM app.open_turn_owners WHERE turn_id = $3)
DELETE FROM core.open_turns WHERE {_MINE} AND turn_id = $3 RETURNING {_OPEN}"""  # noqa: S608
_OF_CONVERSATION = (
    f"SELECT turn_id FROM core.open_turns WHERE {_MINE} AND ($3::uuid IS NULL OR conversation_id = $3) ORDER BY place"  # noqa: S608
)
_RECORD = """
WITH figures AS (
  INSERT INTO core.turns (owner_kind, owner_id, turn_id, conversation_id, app, model, started_at, iterations, calls, cost, outcome, trace_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
)
INSERT INTO core.turn_texts (owner_kind, owner_id, turn_id, conversation_id, prompt, reply, error, calls)
VALUES ($1, $2, $3, $4, $13, $14, $15, $16)"""
_SEEN = """
INSERT INTO app.turn_workers (worker, part) VALUES ($1, $2)
ON CONFLICT (worker) DO UPDATE SET seen_at = clock_timestamp()"""
_GONE = """
SELECT o.turn_id, o.owner_kind, o.owner_id FROM app.open_turn_owners o LEFT JOIN app.turn_workers w USING (worker)
WHERE o.worker <> $1 AND (w.worker IS NULL OR w.part = $2 OR w.seen_at < clock_timestamp() - make_interval(secs => $3))
ORDER BY o.begun_at LIMIT 500"""
_LOOK = f"SELECT {_OPEN} FROM core.open_turns WHERE {_MINE} AND turn_id = $3"  # noqa: S608
_SWEEP = """
DELETE FROM app.turn_workers w WHERE w.worker <> $1 AND (w.part = $2 OR w.seen_at < clock_timestamp() - interval '1 hour')
AND NOT EXISTS (SELECT FROM app.open_turn_owners o WHERE o.worker = w.worker)"""
KEPT = 2000
"""Characters of a prompt, a reply or an error that a turn's record keeps; the conversation has all of it."""
KEPT_CALLS = 16 * 1024
"""Bytes of what its tools were asked."""


@dataclass(frozen=True)
class OpenTurn:
    """A turn that waits or runs. `calls`: tools that have begun; `reply`: what was answered so far."""

    turn_id: UUID
    conversation_id: UUID
    state: str
    app: str
    text: str
    calls: tuple[ToolCall, ...]
    reply: str
    begun_at: datetime
    started_at: datetime | None


async def count_open(tx: Tx, owner: Owner, conversation_id: UUID) -> int:
    return int(await tx.raw.fetchval(_WAITING, owner.kind, owner.id, conversation_id))


async def add_waiting(tx: Tx, owner: Owner, worker: str, conversation_id: UUID, turn_id: UUID, text: str, app: str) -> None:  # fmt: skip
    """Last in its conversation, which the caller holds."""
    await tx.raw.execute(_ADD, owner.kind, owner.id, conversation_id, turn_id, text, app, worker)


async def is_first(tx: Tx, owner: Owner, conversation_id: UUID, turn_id: UUID) -> bool:
    return bool(await tx.raw.fetchval(_FIRST, owner.kind, owner.id, conversation_id) == turn_id)


async def state_of(tx: Tx, owner: Owner, turn_id: UUID) -> str | None:
    """`waiting`, `running`, or None when it is not open."""
    found: str | None = await tx.raw.fetchval(_IS_THERE, owner.kind, owner.id, turn_id)
    return found


async def set_running(tx: Tx, owner: Owner, conversation_id: UUID, turn_id: UUID) -> str | None:
    """Its text; None when it is not the first, or does not wait (any more)."""
    found: str | None = await tx.raw.fetchval(_START, owner.kind, owner.id, turn_id, conversation_id)
    return found


async def begun_calls(tx: Tx, owner: Owner, turn_id: UUID) -> tuple[ToolCall, ...] | None:
    """Tools that have begun and not ended, held until the transaction ends; None when the turn does not run."""
    found = await tx.raw.fetchval(_CALLS, owner.kind, owner.id, turn_id)
    return None if found is None else calls_of(found)


async def set_calls(tx: Tx, owner: Owner, turn_id: UUID, calls: Sequence[ToolCall]) -> None:
    kept = json.dumps([asdict(clean_call(call)[0]) for call in calls], ensure_ascii=False)
    await tx.raw.execute(_SET_CALLS, owner.kind, owner.id, turn_id, kept)


async def set_reply(tx: Tx, owner: Owner, turn_id: UUID, reply: str) -> bool:
    return not str(await tx.raw.execute(_SET_REPLY, owner.kind, owner.id, turn_id, clean(reply))).endswith(" 0")


async def take(tx: Tx, owner: Owner, turn_id: UUID) -> OpenTurn | None:
    """Close it: whoever gets it writes its row. None when somebody did already."""
    row = await tx.raw.fetchrow(_TAKE, owner.kind, owner.id, turn_id)
    return None if row is None else _open_turn(row)


async def open_turns(tx: Tx, owner: Owner, conversation_id: UUID | None = None) -> list[UUID]:
    """In their order; of one conversation or of all."""
    return [row["turn_id"] for row in await tx.raw.fetch(_OF_CONVERSATION, owner.kind, owner.id, conversation_id)]


async def add_record(tx: Tx, owner: Owner, record: TurnRecord) -> None:
    """The turn's row, for good, and what was said in it, cut short."""
    figures = (record.started_at, record.iterations, len(record.calls), record.cost, record.outcome, record.trace_id)
    ids = (owner.kind, owner.id, record.turn_id, record.conversation_id)
    said = (short(record.prompt), short(record.reply), short(record.error), _asked(record.calls))
    await tx.raw.execute(_RECORD, *ids, record.app, clean(record.model), *figures, *said)


def short(text: str) -> str:
    kept = clean(text)
    return kept if len(kept) <= KEPT else kept[: KEPT - 1] + "…"


def _asked(calls: Sequence[ToolCall]) -> str:
    """As many of the calls as fit, each with its arguments and without its result, which the conversation has."""
    found: list[str] = []
    for call in calls:
        arguments = json.dumps(clean_value(call.arguments), ensure_ascii=False)
        told = {"tool": clean(call.tool), "state": call.state, "ms": call.ms, "arguments": short(arguments)}
        found.append(json.dumps(told, ensure_ascii=False))
        if sum(len(each.encode()) for each in found) > KEPT_CALLS:
            found.pop()
            break
    return f"[{', '.join(found)}]"


async def say_alive(tx: Tx, worker: str, part: str) -> None:
    await tx.raw.execute(_SEEN, worker, part)


async def left_behind(tx: Tx, worker: str, part: str, silent: float) -> list[tuple[UUID, Owner]]:
    """Turns of processes that are gone, oldest first: an earlier start of this part, or one that said nothing for `silent` seconds."""
    rows = await tx.raw.fetch(_GONE, worker, part, silent)
    return [(row["turn_id"], Owner(kind=row["owner_kind"], id=row["owner_id"])) for row in rows]


async def look_at(tx: Tx, owner: Owner, turn_id: UUID) -> OpenTurn | None:
    row = await tx.raw.fetchrow(_LOOK, owner.kind, owner.id, turn_id)
    return None if row is None else _open_turn(row)


async def sweep_workers(tx: Tx, worker: str, part: str) -> None:
    """Forget processes that are gone and left nothing."""
    await tx.raw.execute(_SWEEP, worker, part)


def _open_turn(row: Record) -> OpenTurn:
    return OpenTurn(
        row["turn_id"], row["conversation_id"], row["state"], row["app"], row["text"], calls_of(row["calls"]), row["reply"],
        row["begun_at"], row["started_at"],
    )  # fmt: skip
