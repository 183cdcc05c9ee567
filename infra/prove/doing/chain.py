"""Verify what a service has stored, with that service's own role: {"as": "bridge" | "site"}. See infra.prove.ledger.

`value`: {"seq", "head", "fault"} and for the site {"rows": […], "missing": […], "graves": […], "state", "newest_head"}; for the bridge {"contents": […]}.
"""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import session
from infra.prove.ledger import Ledger, Link, Row, row_fault
from schemas.statements import Decision, GateHead, Signed
from shared.errors import BadSignature
from shared.settings import DATABASES, Settings
from shared.signing import PublicKeys

CHUNK = 500
_RECEIPT = "entry, signature, key_id, statement, statement_signature, statement_key_id"
_LOGS = {
    "bridge": f"SELECT {_RECEIPT} FROM core.gate_log ORDER BY seq",
    "site": f"SELECT {_RECEIPT} FROM app.gate_entries ORDER BY seq",
}
_ROWS = f"SELECT item_id, seq, kind, lang, path, audience, content_hash, content, {_RECEIPT} FROM app.entries"
_CONTENTS = """SELECT r.item_id || ' revision ' || r.revision FROM core.revisions r WHERE content_hash <> encode(sha256(content), 'hex')
  UNION ALL SELECT 'no content for entry ' || g.seq FROM core.gate_log g WHERE kind = 'publication'
    AND NOT EXISTS (SELECT FROM core.revisions r WHERE r.item_id = g.item_id AND r.revision = g.revision)"""
_HEADS = "SELECT head, signature, key_id FROM app.sealed_heads ORDER BY received_at DESC LIMIT 50"


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"got": "done", "value": await _verify(Settings.load(each["as"], state))} for each in attempts]


async def _verify(settings: Settings) -> dict[str, Any]:
    service = settings.service
    async with (
        session(settings.state, service, DATABASES[service]) as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        return await _examine(connection, service, PublicKeys.load(settings.public_keys))


async def _examine(connection: asyncpg.Connection, service: str, keys: PublicKeys) -> dict[str, Any]:
    ledger = Ledger(keys)
    cursor = await connection.cursor(_LOGS[service])
    while rows := await cursor.fetch(CHUNK):
        ledger.read(_link(row) for row in rows)
    found: dict[str, Any] = {"seq": ledger.seq, "head": ledger.head, "fault": ledger.fault}
    if service == "bridge":
        return found | {"contents": [row[0] for row in await connection.fetch(_CONTENTS)]}
    return found | await _site(connection, ledger, keys)


async def _site(connection: asyncpg.Connection, ledger: Ledger, keys: PublicKeys) -> dict[str, Any]:
    faults, stored = [], set()
    async for record in connection.cursor(_ROWS, prefetch=100):
        row = _row(record)
        stored.add(row.item_id)
        if fault := row_fault(row, ledger):
            faults.append(f"{row.place[0]}/{row.place[1]}/{row.place[2]} {fault}")
    published = {item for item, (_, _, statement) in ledger.newest.items() if isinstance(statement, Decision)}
    graves = {row[0] for row in await connection.fetch("SELECT item_id FROM app.tombstones")}
    state = await connection.fetchrow("SELECT seq, hash FROM app.site_state WHERE id = 1")
    return {
        "rows": faults,
        "missing": [str(item) for item in published - stored],
        "graves": [str(item) for item in set(ledger.newest) - published - graves],
        "state": [state["seq"], state["hash"]] if state else None,
        "newest_head": _newest(
            [Signed(payload=row[0], signature=row[1], key_id=row[2]) for row in await connection.fetch(_HEADS)], keys
        ),
    }


def _link(row: asyncpg.Record) -> Link:
    gate = Signed(payload=row["entry"], signature=row["signature"], key_id=row["key_id"])
    return Link(
        gate, Signed(payload=row["statement"], signature=row["statement_signature"], key_id=row["statement_key_id"])
    )


def _row(row: asyncpg.Record) -> Row:
    place = (row["kind"], row["lang"], row["path"], row["audience"], row["content_hash"])
    return Row(row["item_id"], row["seq"], place, _link(row), row["content"])


def _newest(heads: list[Signed], keys: PublicKeys) -> dict[str, Any] | None:
    """Place, hash and time of the newest head that the gate really signed."""
    good = []
    for signed in heads:
        try:
            good.append(keys.verify("gate", signed, GateHead))
        except BadSignature:
            continue
    newest = max(good, key=lambda head: head.at, default=None)
    return {"seq": newest.seq, "head": newest.head, "at": newest.at.isoformat()} if newest else None
