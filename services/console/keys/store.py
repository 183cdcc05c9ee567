"""Decision keys and which one signs, in console_db.

Whoever signs holds a share of the one row of `signing` until its transaction ends, and whoever moves it waits for them: what the
old key signed is staged before the new key's first word, so a revocation never overtakes a decision.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from services.console.keys.domain import DEAD, Held, Key, State
from services.console.tables import decision_keys, signing
from shared.db import Tx
from shared.errors import NotFound

_HELD = select(*(signing.c[name] for name in Held._fields))
_KEY = select(*(decision_keys.c[name] for name in Key._fields))


async def signing_key_id(tx: Tx) -> str:
    """The key that signs, fixed until this transaction ends."""
    return str(await tx.value(select(signing.c.key_id).with_for_update(read=True)))


async def lock_signing(tx: Tx) -> Held:
    """Nobody signs until this transaction ends. Take it before any other row."""
    row = await tx.row(_HELD.with_for_update())
    assert row is not None, "written at the first start"
    return Held(**row)


async def signing_now(tx: Tx) -> Held | None:
    """The same without a lock; None before the first start."""
    row = await tx.row(_HELD)
    return None if row is None else Held(**row)


async def begin(tx: Tx, key_id: str) -> None:
    await tx.execute(insert(signing).values(key_id=key_id).on_conflict_do_nothing())


async def announce(tx: Tx, next_key_id: str, revoke_old: bool) -> None:
    await tx.execute(update(signing).values(next_key_id=next_key_id, revoke_old=revoke_old))


async def end_rotation(tx: Tx, key_id: str) -> None:
    """`key_id` signs from here on."""
    await tx.execute(update(signing).values(key_id=key_id, next_key_id=None, revoke_old=False))


async def add(tx: Tx, row: dict[str, Any]) -> None:
    await tx.execute(insert(decision_keys).values(row).on_conflict_do_nothing())


async def key(tx: Tx, key_id: str) -> Key:
    row = await tx.row(_KEY.where(decision_keys.c.key_id == key_id))
    if row is None:
        raise NotFound(f"the console has no decision key {key_id!r}", code="unknown_key")
    return Key(**row)


async def keys(tx: Tx) -> Sequence[Key]:
    """All that there ever were, oldest first."""
    return [Key(**row) for row in await tx.rows(_KEY.order_by(decision_keys.c.at, decision_keys.c.key_id))]


async def dead_ids(tx: Tx) -> Sequence[str]:
    rows = await tx.rows(select(decision_keys.c.key_id).where(decision_keys.c.state.in_(DEAD)))
    return [row["key_id"] for row in rows]


async def ask_to_revoke(tx: Tx, key_id: str, statement_hash: str) -> None:
    mine = decision_keys.c.key_id == key_id
    asked = {"state": "revoking", "statement_hash": statement_hash, "refusal": None}
    await tx.execute(update(decision_keys).where(mine).values(asked))


async def settle(tx: Tx, statement_hash: str, before: State, after: State, refusal: str | None = None) -> int:
    """The answer to the change that waits for it; how many keys it concerned."""
    mine = (decision_keys.c.statement_hash == statement_hash) & (decision_keys.c.state == before)
    return await tx.execute(update(decision_keys).where(mine).values(state=after, refusal=refusal))
