"""Everything that waits and fits a filter, in thousands: what would be decided with one word, and how a batch stands."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.engine import RowMapping

from services.console.queue.tables import decisions, items
from services.console.queue.views import Filter, waiting, wanted
from shared.db import Tx

_SHOWN = (
    *("item_id", "revision", "version", "content_hash", "title", "kind", "lang", "path", "by_name", "audience"),
    "published_revision",
)


@dataclass(frozen=True)
class Mass:
    """`rows`: what waits without findings, the oldest first, at most so many as were asked for. `found`: all of them; `with_findings`: beside these.

    `digest` names exactly these revisions: whoever decides on them has seen this list, and no other.
    """

    rows: Sequence[RowMapping]
    found: int
    with_findings: int
    digest: str


async def read_mass(tx: Tx, by: Filter, until: datetime, most: int) -> Mass:
    """What waited at `until`; what came in or came anew since is not in it."""
    there = [wanted(by), waiting(), items.c.queued_at <= until]
    clear = [*there, items.c.blocks == 0, items.c.checks == 0]
    rows = await tx.rows(
        select(*(items.c[name] for name in _SHOWN))
        .where(*clear)
        .order_by(items.c.queued_at, items.c.item_id)
        .limit(most)
    )
    everything = int(await tx.value(select(func.count()).select_from(items).where(*there)))
    found = (
        int(await tx.value(select(func.count()).select_from(items).where(*clear))) if len(rows) == most else len(rows)
    )
    return Mass(rows, found, everything - found, digest_of(rows))


def digest_of(rows: Sequence[RowMapping]) -> str:
    """SHA-256 over item, revision, version and content hash of each, in order."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(f"{row['item_id']}:{row['revision']}:{row['version']}:{row['content_hash']}\n".encode())
    return whole.hexdigest()


async def count_unanswered(tx: Tx, batch: UUID) -> int:
    mine = (decisions.c.batch == batch) & (decisions.c.outcome == "sent")
    return int(await tx.value(select(func.count()).select_from(decisions).where(mine)))


async def outcomes_of_batch(tx: Tx, batch: UUID) -> dict[str, tuple[str, str]]:
    """`{statement_hash: (outcome, reason)}`."""
    found = select(decisions.c.statement_hash, decisions.c.outcome, decisions.c.outcome_reason)
    rows = await tx.rows(found.where(decisions.c.batch == batch))
    return {row["statement_hash"]: (row["outcome"], row["outcome_reason"] or "") for row in rows}
