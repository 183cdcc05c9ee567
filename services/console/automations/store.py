"""Automations in console_db."""

from schemas.agent.v1 import AutomationStated
from shared.db import Tx

_PUT = """INSERT INTO app.automations AS old (task_id, card_id, owner_id, instruction_hash, state, reason, zone, next_at, at, version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (task_id) DO UPDATE SET (card_id, owner_id, instruction_hash, state, reason, zone, next_at, at, version) =
    (excluded.card_id, excluded.owner_id, excluded.instruction_hash, excluded.state, excluded.reason, excluded.zone,
     excluded.next_at, excluded.at, excluded.version)
  WHERE old.version < excluded.version"""


async def put(tx: Tx, said: AutomationStated) -> None:
    """The agent's newest word; an older one changes nothing."""
    about = (said.task_id, said.card_id, said.owner.id, said.instruction_hash)
    await tx.raw.execute(_PUT, *about, said.state, said.reason, said.zone, said.next_at, said.at, said.version)
