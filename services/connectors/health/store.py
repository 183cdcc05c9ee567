"""The connectors' last checks."""

from datetime import datetime

from asyncpg import Record

from shared.db import Tx

_CLAIM = """
INSERT INTO app.connector_checks AS held (name, declared, claimed_at, reason, version) VALUES ($1, $2, $3, '', 0)
ON CONFLICT (name) DO UPDATE SET declared = $2, claimed_at = $3
WHERE held.declared <> $2 OR held.claimed_at <= CASE WHEN held.ok THEN $4::timestamptz ELSE $5::timestamptz END
RETURNING true"""
_HELD = "SELECT ok, reason, version FROM app.connector_checks WHERE name = $1 FOR UPDATE"
_PUT = "UPDATE app.connector_checks SET ok = $2, reason = $3, version = $4, checked_at = $5 WHERE name = $1"
_DOWN = "SELECT name FROM app.connector_checks WHERE name = ANY($1::text[]) AND NOT ok ORDER BY name"


async def claim(tx: Tx, name: str, declared: str, at: datetime, well_before: datetime, ill_before: datetime) -> bool:
    """Whether it is due: it was declared anew, or asked last before one of these times. Of several instances one gets it."""
    return bool(await tx.raw.fetchval(_CLAIM, name, declared, at, well_before, ill_before))


async def held(tx: Tx, name: str) -> Record | None:
    return await tx.raw.fetchrow(_HELD, name)


async def put(tx: Tx, name: str, ok: bool, reason: str, version: int, at: datetime) -> None:
    await tx.raw.execute(_PUT, name, ok, reason, version, at)


async def down(tx: Tx, names: list[str]) -> list[str]:
    """Those of them that did not answer last."""
    return [row["name"] for row in await tx.raw.fetch(_DOWN, names)]
