"""The first start: the installation's key signs. Later starts find their key in the database and change nothing."""

import base64

from services.console.keys import store
from services.console.keys.ring import KeyRing
from shared.clock import now
from shared.db import Tx


async def open_ring(tx: Tx, ring: KeyRing) -> None:
    if await store.signing_now(tx) is not None:
        return
    key = ring.first()
    public = base64.b64encode(key.public).decode()
    await store.add(tx, {"key_id": key.key_id, "public_key": public, "state": "recorded", "at": now()})
    await store.begin(tx, key.key_id)
