"""Counts, votes, reactions and feedback in console_db: one statement a table and batch."""

from services.console.signals.domain import Tally
from shared.db import Tx

_VIEWS = """
INSERT INTO app.signal_counts (day, item_key, kind, n)
SELECT day, item_key, 'view', n FROM unnest($1::date[], $2::text[], $3::bigint[]) AS t(day, item_key, n)
ON CONFLICT (day, item_key, kind) DO UPDATE SET n = signal_counts.n + excluded.n
"""
_VOTES = """
INSERT INTO app.votes (item_key, visitor, value, at)
SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[])
ON CONFLICT (item_key, visitor) DO UPDATE SET value = excluded.value, at = excluded.at WHERE votes.at <= excluded.at
"""
_REACTIONS = """
INSERT INTO app.reactions (item_key, visitor, reaction, at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) ON CONFLICT DO NOTHING
"""
_FEEDBACK = """
INSERT INTO app.feedback (signal_id, item_key, path, at, text)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::text[]) ON CONFLICT DO NOTHING
"""


async def add(tx: Tx, tally: Tally) -> None:
    """Rows are taken in one order everywhere, so that two batches cannot wait for each other."""
    if tally.views:
        rows = sorted(tally.views.items())
        await tx.raw.execute(
            _VIEWS, [key[0] for key, _ in rows], [key[1] for key, _ in rows], [count for _, count in rows]
        )
    if tally.votes:
        votes = [(*key, *value) for key, value in sorted(tally.votes.items())]
        await tx.raw.execute(_VOTES, *map(list, zip(*votes, strict=True)))
    if tally.reactions:
        reactions = [(*key, at) for key, at in sorted(tally.reactions.items())]
        await tx.raw.execute(_REACTIONS, *map(list, zip(*reactions, strict=True)))
    if tally.feedback:
        feedback = [(signal_id, *rest) for signal_id, rest in sorted(tally.feedback.items())]
        await tx.raw.execute(_FEEDBACK, *map(list, zip(*feedback, strict=True)))
