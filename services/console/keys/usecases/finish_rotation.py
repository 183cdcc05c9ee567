"""One step, whatever was done before: the recorded key signs from now on, and the old one is revoked if that was asked.

Moving the row and asking for the revocation are one transaction; before it the old key signs, after it the new one.
"""

from collections.abc import Sequence

from services.console.keys import store
from services.console.keys.domain import Held
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.stage_change import stage_change
from services.console.people.domain import OPERATOR
from shared.db import Tx


async def finish_rotation(tx: Tx, ring: KeyRing) -> Sequence[str]:
    """Ids of the keys whose files are to be deleted after the commit. Transient when the file of the key that signs is missing."""
    held = await store.lock_signing(tx)
    state = (await store.key(tx, held.next_key_id)).state if held.next_key_id else None
    if state == "recorded":
        await _hand_over(tx, ring, held)
    elif state == "refused":
        await store.end_rotation(tx, held.key_id)
    else:
        ring.get(held.key_id)
    return await store.dead_ids(tx)


async def _hand_over(tx: Tx, ring: KeyRing, held: Held) -> None:
    assert held.next_key_id is not None
    key, old = ring.get(held.next_key_id), await store.key(tx, held.key_id)
    await store.end_rotation(tx, key.key_id)
    if held.revoke_old:
        reason = f"replaced by key {key.key_id}"
        asked = await stage_change(tx, key, "revoked", old.key_id, old.public_key, OPERATOR, reason)
        await store.ask_to_revoke(tx, old.key_id, asked)
