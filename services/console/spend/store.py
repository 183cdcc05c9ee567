"""Rows of the usage ledger in console_db."""

from collections.abc import Sequence
from decimal import Decimal

from schemas.agent.v1 import Usage
from shared.db import Tx

_ADD = """
INSERT INTO app.spend (call_id, turn_id, owner_kind, owner_id, at, settled_at, kind, connector, model, surface, app, purpose,
  tokens_in, tokens_out, tokens_cached, cost, estimated)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[],
  $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::numeric[], $17::boolean[])
ON CONFLICT (call_id) DO NOTHING"""


async def add_usage(tx: Tx, rows: Sequence[Usage]) -> None:
    """A call that is here already stays as it is: a row of the ledger is never another."""
    columns = zip(*(_row(each) for each in rows), strict=True)
    await tx.raw.execute(_ADD, *(list(each) for each in columns))


def _row(row: Usage) -> tuple[object, ...]:
    return (
        row.call_id, row.turn_id, row.owner.kind, row.owner.id, row.at, row.settled_at, row.kind, row.connector, row.model, row.surface,
        row.app, row.purpose, row.tokens_in, row.tokens_out, row.tokens_cached, None if row.cost is None else Decimal(row.cost), row.estimated,
    )  # fmt: skip
