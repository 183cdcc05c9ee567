"""What the lock knows of our own secrets: the connectors' newest set of fingerprints, if it can be believed now (S14).

Nothing but the bytes counts: a set that was shortened, renewed or made up by hand has no mac, and one of another start has another key.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from hmac import compare_digest
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from schemas.connectors.v1 import Fingerprint, FingerprintsTaken
from schemas.text import BadJson, parse_json
from services.bridge.inspection import store
from shared.clock import now
from shared.db import Database
from shared.errors import Transient
from shared.fingerprints import FingerprintKey

OLDEST = timedelta(hours=3)
AFTER_START = 60.0
"""Seconds after the lock's start in which it waits for a set, instead of stopping what comes."""
PATIENCE = 4.0
LOOK = 0.1


@dataclass(frozen=True)
class Known:
    """A set that counts. `seeking` finds its values and makes no set. `name` tells one from another."""

    name: str
    seeking: bytes
    entries: tuple[Fingerprint, ...]

    def __repr__(self) -> str:
        return f"Known({self.name}, {len(self.entries)} fingerprints)"

    def to_frame(self) -> dict[str, Any]:
        """For the inspecting child."""
        return {
            "seeking": self.seeking.hex(),
            "entries": [[each.length, each.first, each.whole, each.spaced] for each in self.entries],
        }


class Source(Protocol):
    """Where the inspector learns what counts now: a set, or why there is none."""

    async def current(self) -> Known | str: ...


class Shelf:
    """A part: the stored set, looked at anew for each text. `keys`: the bridge's key folder."""

    def __init__(self, db: Database, keys: Path) -> None:
        self._db, self._keys = db, keys
        self._waits_until = 0.0
        self._newest = 0
        self._seen: tuple[list[bytes], str, FingerprintsTaken, Known] | None = None

    async def start(self) -> None:
        self._waits_until = asyncio.get_running_loop().time() + AFTER_START

    async def stop(self) -> None:
        """Nothing runs."""

    async def current(self) -> Known | str:
        """Transient shortly after the start, while none has come that counts: the text is inspected again a little later."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        while isinstance(found := await self._look(), str) and loop.time() < self._waits_until:
            if loop.time() > deadline:
                raise Transient(f"the lock waits for the connectors to start: {found}", code="fingerprints")
            await asyncio.sleep(LOOK)  # a set comes once after a start; until then nothing is told that it has come
        return found

    def key(self) -> FingerprintKey:
        """Read each time: in containers a start makes a new one while this process goes on."""
        return FingerprintKey.load(self._keys)

    async def _look(self) -> Known | str:
        async with self._db.reading() as tx:
            rows = await store.newest_fingerprints(tx)
        if not rows:
            return "there is no complete set of fingerprints"
        try:
            taken, known = self._read([row["body"] for row in rows], self.key())
        except _Unbelievable as error:
            return str(error)
        except Transient as error:
            return error.message
        if now() - taken.at > OLDEST:
            return f"the newest set of fingerprints is older than {OLDEST.total_seconds() / 3600:g} hours"
        if taken.version < self._newest:
            return "an earlier set of fingerprints was put in the place of a later one"
        self._newest = taken.version
        return known

    def _read(self, bodies: list[bytes], key: FingerprintKey) -> tuple[FingerprintsTaken, Known]:
        """The same bytes with the same key are verified once."""
        if self._seen is None or self._seen[:2] != (bodies, key.key_id):
            parts = [_part(body, key) for body in bodies]
            known = _joined(parts, key)
            self._seen = bodies, key.key_id, parts[0], known
        return self._seen[2], self._seen[3]


class _Unbelievable(Exception):
    """Why a stored set does not count."""


def believes(taken: FingerprintsTaken, key: FingerprintKey) -> bool:
    """Whether it was made with this key, all of it."""
    return taken.key_id == key.key_id and compare_digest(taken.mac, key.mac(taken))


def _part(body: bytes, key: FingerprintKey) -> FingerprintsTaken:
    try:
        taken = FingerprintsTaken.model_validate(parse_json(body))
    except (BadJson, ValidationError):
        raise _Unbelievable("a set of fingerprints cannot be read") from None
    if taken.key_id != key.key_id:
        raise _Unbelievable("the newest set of fingerprints was made with the key of another start")
    if not believes(taken, key):
        raise _Unbelievable("a set of fingerprints is not what the connectors made")
    return taken


def _joined(parts: list[FingerprintsTaken], key: FingerprintKey) -> Known:
    first = parts[0]
    if [(each.version, each.part, each.parts, each.at) for each in parts] != [
        (first.version, number, len(parts), first.at) for number in range(1, len(parts) + 1)
    ]:
        raise _Unbelievable("parts of different sets of fingerprints lie together")
    return Known(f"{key.key_id}/{first.version}", key.seeking, tuple(each for part in parts for each in part.entries))
