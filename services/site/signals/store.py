"""Raw signals, votes and the keys of the days."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from schemas.site.v1 import Signal
from shared.db import Tx

_ADD = """INSERT INTO app.signals (signal_id, kind, item_id, path, visitor, at, value, reaction, text)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::smallint[],
    $8::text[], $9::text[])
  ON CONFLICT DO NOTHING"""
_ADD_VIEWS = """INSERT INTO app.signals (signal_id, kind, item_id, path, visitor, at, value, reaction, text)
  SELECT id, 'view', item_id, path, visitor, at, 0, NULL, ''
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) AS t(id, item_id, path, visitor, at)
  ON CONFLICT DO NOTHING RETURNING signal_id::text"""
_VOTE = """INSERT INTO app.votes (item_id, visitor, value, audience)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::text[])
  ON CONFLICT (item_id, visitor) DO UPDATE SET value = excluded.value, audience = excluded.audience,
    voted_at = clock_timestamp()"""
_TALLY = """SELECT item_id, audience, count(*) FILTER (WHERE value = 1) AS up, count(*) FILTER (WHERE value = -1) AS down
  FROM app.votes WHERE $1::uuid[] IS NULL OR item_id = ANY($1) GROUP BY item_id, audience"""
_PRUNE = """DELETE FROM app.signals WHERE signal_id = ANY(ARRAY(
  SELECT signal_id FROM app.signals WHERE received_at < clock_timestamp() - interval '7 days' LIMIT 5000))"""
_DAY_KEY = """INSERT INTO app.visitor_keys (day, key) VALUES ($1, $2)
  ON CONFLICT (day) DO UPDATE SET day = excluded.day RETURNING key"""
_TOGETHER = """WITH views AS (SELECT visitor, item_id FROM app.signals WHERE kind = 'view' AND item_id IS NOT NULL
    AND received_at > clock_timestamp() - interval '7 days' ORDER BY received_at DESC LIMIT 200000),
  seen AS (SELECT DISTINCT visitor, item_id FROM views),
  people AS (SELECT visitor FROM seen GROUP BY visitor HAVING count(*) BETWEEN 2 AND 30),
  pairs AS (SELECT a.item_id, b.item_id AS other, count(*) AS n FROM people JOIN seen a USING (visitor)
    JOIN seen b ON b.visitor = a.visitor AND b.item_id <> a.item_id GROUP BY 1, 2 HAVING count(*) > 1)
  SELECT item_id, other FROM (SELECT *, row_number() OVER (PARTITION BY item_id ORDER BY n DESC, other) AS place FROM pairs) AS ranked
  WHERE place <= 4 ORDER BY item_id, place"""
_MOST_READ = """SELECT item_id FROM app.signals WHERE kind = 'view' AND item_id IS NOT NULL
  AND received_at > clock_timestamp() - interval '7 days' GROUP BY item_id ORDER BY count(*) DESC, item_id LIMIT $1"""


@dataclass
class Views:
    """Page views of a log as columns, ready for one statement."""

    ids: list[str]
    items: list[UUID | None]
    paths: list[str]
    visitors: list[str]
    times: list[datetime]


@dataclass(frozen=True)
class Tally:
    up: int = 0
    down: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.up + other.up, self.down + other.down)


ByAudience = Mapping[str, Tally]
"""Votes apart by whom the item was for when they were cast: what only members saw, only they see the counts of."""


async def add(tx: Tx, signals: Sequence[Signal]) -> None:
    rows = [(s.signal_id, s.kind, s.item_id, s.path, s.visitor, s.at, s.value, s.reaction, s.text) for s in signals]
    await tx.raw.execute(_ADD, *(list(column) for column in zip(*rows, strict=True)))


async def add_views(tx: Tx, views: Views) -> set[str]:
    """The ids that were new."""
    found = await tx.raw.fetch(_ADD_VIEWS, views.ids, views.items, views.paths, views.visitors, views.times)
    return {row[0] for row in found}


async def vote(tx: Tx, votes: Mapping[tuple[UUID, str], tuple[int, str]]) -> None:
    """Set each visitor's one vote on an item, with the item's audience; 0 takes it back.

    Locked in one order, so that writers cannot block each other.
    """
    cast = sorted((item_id, visitor, value, audience) for (item_id, visitor), (value, audience) in votes.items())
    await tx.raw.execute(_VOTE, *(list(column) for column in zip(*cast, strict=True)))


async def tallies(tx: Tx, items: Iterable[UUID] | None = None) -> dict[UUID, ByAudience]:
    """Votes by item and audience, of these items or of all."""
    found: dict[UUID, dict[str, Tally]] = {}
    for row in await tx.raw.fetch(_TALLY, None if items is None else list(items)):
        found.setdefault(row["item_id"], {})[row["audience"]] = Tally(row["up"], row["down"])
    return dict(found)


async def read_together(tx: Tx) -> dict[UUID, tuple[UUID, ...]]:
    """For each item up to four others that at least two visitors read on the same day, the most frequent first.

    Of the newest 200,000 views; who reads more than 30 items a day is a program, and says nothing.
    """
    found: dict[UUID, tuple[UUID, ...]] = {}
    for row in await tx.raw.fetch(_TOGETHER):
        found[row["item_id"]] = (*found.get(row["item_id"], ()), row["other"])
    return found


async def most_read(tx: Tx, limit: int) -> list[UUID]:
    """Items by views of the last 7 days."""
    return [row["item_id"] for row in await tx.raw.fetch(_MOST_READ, limit)]


async def prune(tx: Tx) -> int:
    """Delete at most 5,000 signals older than 7 days; how many."""
    done: Any = await tx.raw.execute(_PRUNE)
    return int(str(done).rsplit(" ", 1)[-1])


async def day_key(tx: Tx, day: date, proposed: bytes) -> bytes:
    """The key of a day, the same for all instances of the site."""
    return bytes(await tx.raw.fetchval(_DAY_KEY, day, proposed))


async def forget_days_before(tx: Tx, day: date) -> None:
    await tx.raw.execute("DELETE FROM app.visitor_keys WHERE day < $1", day)
