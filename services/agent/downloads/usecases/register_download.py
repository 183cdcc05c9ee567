"""A file of an owner's may be fetched for a time."""

import hashlib
from datetime import timedelta

from services.agent.downloads import store
from services.agent.downloads.domain import MOST, Registered
from services.agent.downloads.names import shown
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db import Tx
from shared.errors import TooMany
from shared.ids import fresh_id


async def register_download(
    tx: Tx, me: Me, path: str, life: timedelta, token: str = "", name: str = "", version: str = ""
) -> Registered:  # fmt: skip
    """`token`: whoever has it may fetch the file as it is now (`version`), else its owner alone. The caller has seen that the file is there. TooMany."""
    at = now()
    if await store.count(tx, me.owner, at) >= MOST:
        raise TooMany(f"There are {MOST} download links already. Take some back; expired ones go by themselves.")
    called = shown(name or path.rpartition("/")[2])
    made = Registered(me.owner, fresh_id(), path, called, at, at + life, bool(token), version if token else "")
    await store.add(tx, made, hash_of(token) if token else None)
    return made


def hash_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
