"""Statements on lessons. Every one names the owner, though row security would hold it to that anyway."""

import json
from collections.abc import Sequence
from typing import Any

from schemas.outward import Owner
from services.agent.lessons.domain import Learnt, Lesson, Origin, Version
from services.agent.lessons.splitting import SPLITTING
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_NUMBER = """
INSERT INTO core.lesson_books AS b (owner_kind, owner_id, version, newest) VALUES ($1, $2, 1, 1)
ON CONFLICT (owner_kind, owner_id) DO UPDATE SET version = b.version + 1, newest = b.newest + 1 RETURNING newest"""
_CHANGED = f"UPDATE core.lesson_books SET version = version + 1 WHERE {_MINE}"  # noqa: S608
_VERSION = f"SELECT made_at, version FROM core.lesson_books WHERE {_MINE}"  # noqa: S608
_COUNT = f"SELECT count(*) FROM core.lessons WHERE {_MINE}"  # noqa: S608
_ADD = """
INSERT INTO core.lessons (owner_kind, owner_id, lesson_id, observation, conclusion, next_action, tags, words, splitting, conversation_id, turn_id, sources, flagged)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"""
_DROP = f"DELETE FROM core.lessons WHERE {_MINE} AND lesson_id = $3"  # noqa: S608
_WORDS = f"SELECT lesson_id, words FROM core.lessons WHERE {_MINE} ORDER BY lesson_id"  # noqa: S608
_ALL = "lesson_id, observation, conclusion, next_action, tags, conversation_id, turn_id, sources, flagged, at"
_OLD = f"SELECT {_ALL} FROM core.lessons WHERE {_MINE} AND splitting < $3 ORDER BY lesson_id LIMIT $4"  # noqa: S608
_SPLIT = f"UPDATE core.lessons SET words = $4, splitting = $5 WHERE {_MINE} AND lesson_id = $3"  # noqa: S608
_SOME = f"SELECT {_ALL} FROM core.lessons WHERE {_MINE} AND lesson_id = ANY($3)"  # noqa: S608
_NEWEST = f"SELECT {_ALL} FROM core.lessons WHERE {_MINE} ORDER BY lesson_id DESC LIMIT $3"  # noqa: S608


async def add(tx: Tx, owner: Owner, learnt: Learnt, origin: Origin, *, flagged: bool) -> int:
    """Its number. Locks the owner's book until the transaction ends."""
    number = int(await tx.raw.fetchval(_NUMBER, owner.kind, owner.id))
    await tx.raw.execute(
        _ADD, owner.kind, owner.id, number, learnt.observation, learnt.conclusion, learnt.next_action, _json(learnt.tags),
        " ".join(learnt.words), SPLITTING, origin.conversation_id, origin.turn_id, _json(origin.sources), flagged,
    )  # fmt: skip
    return number


async def count(tx: Tx, owner: Owner) -> int:
    return int(await tx.raw.fetchval(_COUNT, owner.kind, owner.id))


async def drop(tx: Tx, owner: Owner, lesson_id: int) -> bool:
    """Whether there was one."""
    await tx.raw.execute(_CHANGED, owner.kind, owner.id)
    return str(await tx.raw.execute(_DROP, owner.kind, owner.id, lesson_id)).endswith(" 1")


async def version(tx: Tx, owner: Owner) -> Version | None:
    """None: no lessons yet."""
    row = await tx.raw.fetchrow(_VERSION, owner.kind, owner.id)
    return (row["made_at"], row["version"]) if row else None


async def words(tx: Tx, owner: Owner) -> dict[int, list[str]]:
    return {row["lesson_id"]: row["words"].split() for row in await tx.raw.fetch(_WORDS, owner.kind, owner.id)}


async def split_earlier(tx: Tx, owner: Owner, most: int) -> list[Lesson]:
    """Lessons whose words are of an earlier splitting."""
    return [_lesson(row) for row in await tx.raw.fetch(_OLD, owner.kind, owner.id, SPLITTING, most)]


async def split_anew(tx: Tx, owner: Owner, lessons: Sequence[Lesson]) -> None:
    rows = [(owner.kind, owner.id, each.lesson_id, " ".join(each.learnt.words), SPLITTING) for each in lessons]
    await tx.raw.executemany(_SPLIT, rows)
    await tx.raw.execute(_CHANGED, owner.kind, owner.id)


async def some(tx: Tx, owner: Owner, ids: Sequence[int]) -> dict[int, Lesson]:
    rows = await tx.raw.fetch(_SOME, owner.kind, owner.id, list(ids))
    return {row["lesson_id"]: _lesson(row) for row in rows}


async def newest(tx: Tx, owner: Owner, limit: int) -> list[Lesson]:
    return [_lesson(row) for row in await tx.raw.fetch(_NEWEST, owner.kind, owner.id, limit)]


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _lesson(row: Any) -> Lesson:
    learnt = Learnt(row["observation"], row["conclusion"], row["next_action"], tuple(json.loads(row["tags"])))
    origin = Origin(row["conversation_id"], row["turn_id"], tuple(json.loads(row["sources"])))
    return Lesson(row["lesson_id"], learnt, origin, row["at"], row["flagged"])
