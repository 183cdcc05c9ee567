"""Area fingerprints: the lock would find a value of the secret store now, and believes no set but the connectors' own (S14)."""

import asyncio
import json
import secrets

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.connectors.v1 import FingerprintsTaken
from shared.clock import now
from shared.fingerprints import KEY_BYTES, FingerprintKey
from shared.operator import acall
from shared.settings import DATABASES

NAME = "fingerprints.taken"
PATIENCE = 10.0
"""Seconds: after a start the first set is on its way."""
EVERY = 0.5
_NEWEST = "SELECT convert_from(body, 'UTF8') FROM app.fingerprints ORDER BY version DESC, part LIMIT 1"
_KEPT = "SELECT version::text FROM app.fingerprints WHERE version >= $1::bigint"


async def check(target: Target) -> list[Check]:
    book = Book("fingerprints")
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", "f")
    await check_found(target, book, PATIENCE)
    return book.checks


async def check_found(target: Target, book: Book, patience: float = 0.0) -> None:
    """The lock looks through two texts as it would through a submission: one has the value that every set holds."""
    said = await acall(target.layout.state, "bridge", "inspection.check")
    deadline = asyncio.get_running_loop().time() + patience
    while said["why"] and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(EVERY)
        said = await acall(target.layout.state, "bridge", "inspection.check")
    book.holds("bridge", "it knows our secrets by a set that counts", said["why"])
    book.holds("bridge", "a text with the value that every set holds is stopped", "" if said["canary"] else "it passes")
    book.holds("bridge", "a text without a value is not", "" if said["clean"] else "it is stopped")


async def check_forged(target: Target, book: Book) -> None:
    """Sets that the connectors' real account brings, but that their key did not make."""
    forger = Forger.of(target)
    newest: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NEWEST}
    (outcome,) = await target.run("bridge", [newest])
    key = FingerprintKey(secrets.token_bytes(KEY_BYTES))
    empty = FingerprintsTaken(key_id=key.key_id, entries=(), at=now(), version=forger.far, mac="0" * 64)
    sets = {"without a mac": empty, "empty, made with another key": empty.model_copy(update={"mac": key.mac(empty)})}
    for row in outcome["value"]:
        real = FingerprintsTaken.model_validate(json.loads(row[0]))
        sets["the real one, cut short"] = real.model_copy(update={"entries": (), "version": forger.far})
        sets["the real one, renewed"] = real.model_copy(update={"at": now(), "version": forger.far})
    forged = [Forged(says, forger.event(NAME, taken, MARK), "", NAME) for says, taken in sets.items()]
    await try_forged(target, book, forged, "f", "connectors")
    kept: Attempt = {**newest, "query": _KEPT, "args": [forger.far]}
    (left,) = await target.run("bridge", [kept])
    book.holds("bridge", "none of them is kept", ", ".join(row[0] for row in left["value"]))
