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
from schemas.text import BadJson, canonical, parse_json, sha256
from services.bridge.inspection import store
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError, Transient
from shared.fingerprints import WINDOW, FingerprintKey, first_of
from shared.health import Health
from shared.tasks import cancel, spawn

OLDEST = timedelta(hours=3)
AFTER_START = 60.0
"""Seconds after the lock's start in which it waits for a set, instead of stopping what comes."""
PATIENCE = 4.0
LOOK = 0.1
MOMENT = 0.25
"""Seconds for which a set that counts is not looked at again."""
WATCH = 30.0


@dataclass(frozen=True)
class Known:
    """A set that counts. `seeking` finds its values and makes no set. `name` tells it from a set that would find something else."""

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
    """A part: the stored set, looked at anew for each text, or for those that come in one moment. `keys`: the bridge's key folder."""

    def __init__(self, db: Database, keys: Path, health: Health) -> None:
        self._db, self.keys, self._health = db, keys, health
        self._waits_until = 0.0
        self._newest = 0
        self._seen: tuple[list[bytes], str, FingerprintsTaken, Known] | None = None
        self._now: tuple[float, Known] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._waits_until = asyncio.get_running_loop().time() + AFTER_START
        self._task = spawn(self._watch(), "fingerprints")

    async def stop(self) -> None:
        await cancel(self._task)

    async def current(self) -> Known | str:
        """Transient shortly after the start, while none has come that counts: the text is inspected again a little later."""
        loop = asyncio.get_running_loop()
        if self._now is not None and loop.time() < self._now[0]:
            return self._now[1]
        deadline = loop.time() + PATIENCE
        while isinstance(found := await self.look(), str) and loop.time() < self._waits_until:
            if loop.time() > deadline:
                raise Transient(f"the lock waits for the connectors to start: {found}", code="fingerprints")
            await asyncio.sleep(LOOK)  # a set comes once after a start; until then nothing is told that it has come
        self._now = (loop.time() + MOMENT, found) if isinstance(found, Known) else None
        return found

    async def look(self) -> Known | str:
        """What is stored now, or why it does not count."""
        async with self._db.reading() as tx:
            rows = await store.newest_fingerprints(tx)
        if not rows:
            return "there is no complete set of fingerprints"
        try:
            return self._judge(*self._read([row["body"] for row in rows], self.key()))
        except _Unbelievable as error:
            return str(error)
        except Transient as error:
            return error.message

    def key(self) -> FingerprintKey:
        """Read each time: in containers a start makes a new one while this process goes on."""
        return FingerprintKey.load(self.keys)

    def _judge(self, taken: FingerprintsTaken, known: Known) -> Known:
        if now() - taken.at > OLDEST:
            raise _Unbelievable(f"the newest set of fingerprints is older than {OLDEST.total_seconds() / 3600:g} hours")
        if taken.version < self._newest:
            raise _Unbelievable("an earlier set of fingerprints was put in the place of a later one")
        self._newest = taken.version
        return known

    async def _watch(self) -> None:
        """Health says when nothing could pass. Not red while the lock still waits."""
        while True:
            try:
                found = await self.look()
            except SchleuseError as error:
                found = error.message
            waits = asyncio.get_running_loop().time() < self._waits_until
            well = isinstance(found, Known) or waits
            self._health.set("fingerprints", well, "" if isinstance(found, Known) else found[:200])
            await asyncio.sleep(LOOK if waits and isinstance(found, str) else WATCH)

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
    entries = tuple(each for part in parts for each in part.entries)
    if first_of(key.seeking, key.canary.encode()[:WINDOW]).hex() not in {each.first for each in entries}:
        raise _Unbelievable("the set of fingerprints lacks the value that every set holds")
    said = canonical([each.model_dump(mode="json") for each in entries])
    return Known(f"{key.key_id}/{sha256(said)}", key.seeking, entries)
