"""The operator revokes a key: the lock and the site take nothing from it any more. What it published stays."""

from services.console.keys import store
from services.console.keys.domain import check_revocable, check_why
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.stage_change import stage_change
from services.console.people.domain import Caller
from shared.db import Tx


async def revoke_key(tx: Tx, ring: KeyRing, caller: Caller, key_id: str, reason: str = "") -> None:
    """Refused for the key that signs, NotFound or Conflict for one that cannot be revoked (again)."""
    caller.require("keys")
    why = check_why(reason)
    held = await store.lock_signing(tx)
    key = await store.key(tx, key_id)
    check_revocable(key, held)
    asked = await stage_change(tx, ring.get(held.key_id), "revoked", key_id, key.public_key, caller, why)
    await store.ask_to_revoke(tx, key_id, asked)
