"""The operator replaces the key that signs. The new one is offered to the lock, and signs once the lock has recorded it."""

import base64

from services.console.keys import store
from services.console.keys.domain import check_free, check_why
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.stage_change import stage_change
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx


async def rotate_key(tx: Tx, ring: KeyRing, caller: Caller, *, revoke_old: bool = False, reason: str = "") -> str:
    """The new key's id. Conflict while another one waits for the lock. The present key signs until `finish_rotation`."""
    caller.require("keys")
    why = check_why(reason)
    held = await store.lock_signing(tx)
    check_free(held)
    key = ring.make()
    public = base64.b64encode(key.public).decode()
    asked = await stage_change(tx, ring.get(held.key_id), "added", key.key_id, public, caller, why)
    row = {"key_id": key.key_id, "public_key": public, "state": "offered", "statement_hash": asked, "at": now()}
    await store.add(tx, row)
    await store.announce(tx, key.key_id, revoke_old)
    return key.key_id
