"""Area leaks: the lock would find an internal value now, and believes no fingerprints but those that the console made (S14)."""

import asyncio
import json
import secrets

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.console.v1 import ColumnFingerprinted
from shared.clock import now
from shared.leaks.key import KEY_BYTES, LIST, LeakKey
from shared.operator import acall
from shared.settings import DATABASES

NAME = "column.fingerprinted"
LETTER = "l"
PATIENCE = 20.0
"""Seconds: after a start, and while an app is being looked through, the list is on its way."""
EVERY = 0.5
_NEWEST = "SELECT convert_from(body, 'UTF8') FROM app.column_fingerprints ORDER BY column_id, sequence DESC LIMIT 1"
_KEPT = "SELECT sequence::text FROM app.column_fingerprints WHERE sequence >= $1::bigint"


async def check(target: Target) -> list[Check]:
    book = Book("leaks")
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", LETTER)
    await check_found(target, book, PATIENCE)
    return book.checks


async def check_found(target: Target, book: Book, patience: float = 0.0) -> None:
    """The lock reads what is stored anew, and looks through two texts: one has the value that stands for all of them."""
    said = await acall(target.layout.state, "bridge", "inspection.columns")
    deadline = asyncio.get_running_loop().time() + patience
    while said["why"] and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(EVERY)
        said = await acall(target.layout.state, "bridge", "inspection.columns")
    book.holds("bridge", "it knows the internal columns, all of them", said["why"])
    book.holds("bridge", "a text with an internal value is marked", "" if said["canary"] else "it is not")
    book.holds("bridge", "a text without one is not", "" if said["clean"] else "it is marked")


async def check_forged(target: Target, book: Book) -> None:
    """Fingerprints that the console's real account brings, but that its key did not make: each would make the lock forget."""
    forger = Forger.of(target)
    newest: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NEWEST}
    (outcome,) = await target.run("bridge", [newest])
    key = LeakKey(secrets.token_bytes(KEY_BYTES))
    fields = {"column_id": LIST, "label": "none", "key_id": key.key_id, "sequence": forger.far, "whole": True}
    empty = ColumnFingerprinted(**fields, at=now(), mac="0" * 64)
    told = {"without a mac": empty, "empty, made with another key": empty.model_copy(update={"mac": key.mac(empty)})}
    for row in outcome["value"]:
        real = ColumnFingerprinted.model_validate(json.loads(row[0]))
        told["the real ones, emptied"] = real.model_copy(update={"added": b"", "whole": True, "sequence": forger.far})
        told["the real ones, renewed"] = real.model_copy(update={"at": now(), "sequence": forger.far})
        told["the real ones, dropped"] = real.model_copy(
            update={"dropped": True, "whole": True, "sequence": forger.far}
        )
    forged = [Forged(says, forger.event(NAME, each, MARK), "", NAME) for says, each in told.items()]
    await try_forged(target, book, forged, LETTER, "console")
    (left,) = await target.run("bridge", [{**newest, "query": _KEPT, "args": [forger.far]}])
    book.holds("bridge", "none of them is kept", ", ".join(row[0] for row in left["value"]))
