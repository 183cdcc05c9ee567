"""Automations in console_db, and for which of them the agent has to be told anew that it may act."""
# statements are composed of names of ours
# ruff: noqa: S608

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from schemas.agent.v1 import AutomationStated
from shared.db import Tx

MOST = 500
_PUT = """INSERT INTO app.automations AS old (task_id, card_id, owner_id, instruction_hash, state, reason, zone, next_at, at, version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (task_id) DO UPDATE SET (card_id, owner_id, instruction_hash, state, reason, zone, next_at, at, version) =
    (excluded.card_id, excluded.owner_id, excluded.instruction_hash, excluded.state, excluded.reason, excluded.zone,
     excluded.next_at, excluded.at, excluded.version)
  WHERE old.version < excluded.version"""
_SAID = (
    "SELECT FROM app.action_decisions d WHERE d.card_id = c.card_id AND d.outcome IN ('sent', 'applied') AND d.verdict"
)
_LIST = """SELECT c.card, a.task_id, a.state, a.reason, a.zone, a.next_at, a.at AS stated_at,
    y.by_name AS allowed_by, y.at AS allowed_at, n.verdict, n.by_name, n.at, n.outcome, n.reason AS why
  FROM app.automations a JOIN app.action_cards c USING (card_id)
  LEFT JOIN LATERAL (SELECT * FROM app.action_decisions d WHERE d.card_id = c.card_id AND d.verdict = 'allow' ORDER BY d.at LIMIT 1) y ON true
  LEFT JOIN LATERAL (SELECT * FROM app.action_decisions d WHERE d.card_id = c.card_id ORDER BY d.at DESC LIMIT 1) n ON true"""
_ALL = f"""{_LIST} WHERE ($1::text IS NULL OR c.owner_id = $1) AND (a.state = 'ended') = $2
  ORDER BY a.next_at NULLS LAST, c.requested_at DESC LIMIT {MOST}"""
_ONE = f"{_LIST} WHERE c.card_id = $1"
_DUE = f"""SELECT c.card, a.instruction_hash, p.id AS person_id FROM app.automations a JOIN app.action_cards c USING (card_id)
  JOIN app.people p ON p.id::text = c.owner_id
  LEFT JOIN app.action_states s USING (card_id)
  WHERE a.state <> 'ended' AND a.owner_id = c.owner_id AND NOT p.disabled AND coalesce(s.state, 'done') = 'done'
    AND EXISTS ({_SAID} = 'allow') AND NOT EXISTS ({_SAID} = 'revoke')
    AND NOT EXISTS (SELECT FROM app.automation_delegations g WHERE g.card_id = c.card_id AND g.expires_at > $1 AND g.operations_hash = $2)
    AND c.card_id > $3 ORDER BY c.card_id LIMIT $4 FOR UPDATE OF a"""
_ISSUED = """INSERT INTO app.automation_delegations AS old (card_id, version, operations_hash, issued_at, expires_at) VALUES ($1, 1, $2, $3, $4)
  ON CONFLICT (card_id) DO UPDATE SET (version, operations_hash, issued_at, expires_at) =
    (old.version + 1, excluded.operations_hash, excluded.issued_at, excluded.expires_at) RETURNING version"""


async def put(tx: Tx, said: AutomationStated) -> None:
    """The agent's newest word; an older one changes nothing."""
    about = (said.task_id, said.card_id, said.owner.id, said.instruction_hash)
    await tx.raw.execute(_PUT, *about, said.state, said.reason, said.zone, said.next_at, said.at, said.version)


async def listed(tx: Tx, owner_id: str | None = None, *, ended: bool = False) -> Sequence[Record]:
    """Those of one owner, or all; by their next time."""
    found: Sequence[Record] = await tx.raw.fetch(_ALL, owner_id, ended)
    return found


async def one(tx: Tx, card_id: UUID) -> Record | None:
    return await tx.raw.fetchrow(_ONE, card_id)


async def due(tx: Tx, until: datetime, operations_hash: str, after: UUID, limit: int) -> Sequence[Record]:
    """card, instruction_hash (as the agent says it), person_id: allowed, not taken back, not ended, and the delegation ends by `until` or says something else."""
    found: Sequence[Record] = await tx.raw.fetch(_DUE, until, operations_hash, after, limit)
    return found


async def put_issued(tx: Tx, card_id: UUID, operations_hash: str, issued_at: datetime, expires_at: datetime) -> int:
    """Its number."""
    return int(await tx.raw.fetchval(_ISSUED, card_id, operations_hash, issued_at, expires_at))
