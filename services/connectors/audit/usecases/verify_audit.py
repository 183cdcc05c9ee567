"""Recompute the call audit from its bytes, compare it with its signed checkpoints, and name the first bad entry (rule 17)."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from asyncpg import Record

from schemas.outward import Checkpoint, Witness
from schemas.statements import Signed
from schemas.text import sha256
from services.connectors.audit import store, views
from services.connectors.audit.domain import Head, Row, fault_of, faultless
from shared.db import Database
from shared.errors import BadSignature
from shared.signing import PublicKeys

_PAGE = 500
BLOCK = 1000
"""Entries whose hashes are compared with other places' at once."""


class Recount:
    """The audit as its bytes say it: how far it holds, and a digest of each block of hashes."""

    def __init__(self) -> None:
        self.head = Head()
        self.first_bad: int | None = None
        self.reason = ""
        self.blocks: list[str] = []
        self._digest = hashlib.sha256()

    def take(self, page: Sequence[Row]) -> None:
        """The next entries, as far as they are right."""
        hashes = faultless(page, self.head)
        if hashes is not None:
            for each in hashes:
                self._enter(each)
            return
        for row in page:
            fault = fault_of(row, self.head)
            if fault is not None:
                self.blame(self.head.seq + 1, fault)
                return
            self._enter(sha256(row.entry))

    def _enter(self, hashed: str) -> None:
        self.head = Head(self.head.seq + 1, hashed)
        self._digest.update(hashed.encode())
        if (self.head.seq + 1) % BLOCK == 0:
            self._close_block()

    def finish(self) -> None:
        if (self.head.seq + 1) % BLOCK:
            self._close_block()

    def _close_block(self) -> None:
        self.blocks.append(self._digest.hexdigest())
        self._digest = hashlib.sha256()

    def blame(self, seq: int, reason: str) -> None:
        if self.first_bad is None:
            self.first_bad, self.reason = seq, reason


async def verify_audit(db: Database, keys: PublicKeys) -> dict[str, Any]:
    """{"ok", "entries", "head", "first_bad": number or None, "reason", "checkpoints": {"count", "witnessed", "size"}, "blocks", "seconds"}.

    `entries` are those that hold; `blocks` are digests of their hashes, 1,000 each.
    """
    began, found, signed = time.monotonic(), Recount(), _Checkpoints(db, keys)
    await signed.advance()
    async for page in _pages(db):
        await _take(page, found, signed)
        if found.first_bad is not None:
            break
        await asyncio.sleep(0)  # calls that run meanwhile get their turn
    if found.first_bad is None and signed.size is not None:
        found.blame(found.head.seq + 1, f"it is missing: a checkpoint over {signed.size} entries was signed")
    found.finish()
    return _report(found, signed, time.monotonic() - began)


async def _take(page: Sequence[Row], found: Recount, signed: "_Checkpoints") -> None:
    """A page, in pieces that end where a checkpoint is."""
    at = 0
    while at < len(page) and found.first_bad is None:
        room = len(page) if signed.size is None else signed.size - found.head.seq - 1
        found.take(page[at : at + room])
        at += room
        if signed.size == found.head.seq + 1:
            signed.compare(found)
            await signed.advance()


def _report(found: Recount, signed: "_Checkpoints", seconds: float) -> dict[str, Any]:
    return {
        "ok": found.first_bad is None,
        "entries": found.head.seq + 1,
        "head": {"seq": found.head.seq, "hash": found.head.hash},
        "first_bad": found.first_bad,
        "reason": found.reason,
        "checkpoints": {"count": signed.count, "witnessed": signed.witnessed, "size": signed.last},
        "blocks": found.blocks,
        "seconds": round(seconds, 3),
    }


async def _pages(db: Database) -> AsyncIterator[list[Row]]:
    """The next page is fetched while one is looked at."""
    coming = asyncio.create_task(_page(db, -1))
    try:
        while True:
            page = await coming
            if len(page) == _PAGE:
                coming = asyncio.create_task(_page(db, page[-1].seq))
                await asyncio.sleep(0)
            yield page
            if len(page) < _PAGE:
                return
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


async def _page(db: Database, after: int) -> list[Row]:
    async with db.reading() as tx:
        return await store.entries_after(tx, after, _PAGE)


class _Checkpoints:
    """In the order of their sizes; `size` is that of the one to compare next, None after the last."""

    def __init__(self, db: Database, keys: PublicKeys) -> None:
        self._db, self._keys = db, keys
        self._page: list[Record] = []
        self._after = 0
        self._row: Record | None = None
        self.size: int | None = None
        self.count = self.witnessed = self.last = 0

    async def advance(self) -> None:
        if not self._page:
            async with self._db.reading() as tx:
                self._page = list(await views.checkpoints_after(tx, self._after, _PAGE))
        self._row = self._page.pop(0) if self._page else None
        self.size = None if self._row is None else int(self._row["size"])
        self._after = self.size or self._after

    def compare(self, found: Recount) -> None:
        """With the entry that it is about, which was just taken."""
        row = self._row
        assert row is not None
        fault = checkpoint_fault(row, self._keys) or (
            "" if row["root"] == found.head.hash else "it states another hash"
        )
        if fault:
            found.blame(found.head.seq, f"the checkpoint over {row['size']} entries contradicts it: {fault}")
        self.count, self.last = self.count + 1, row["size"]
        self.witnessed += row["witness"] is not None


def checkpoint_fault(row: Record, keys: PublicKeys) -> str:
    """Why a row does not hold what was signed, or an empty text."""
    signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
    try:
        said = keys.verify("audit", signed, Checkpoint)
        if (said.size, said.root, signed.hash) != (row["size"], row["root"], row["statement_hash"]):
            return "its columns do not say what was signed"
        if row["witness"] is not None:
            _check_witness(row, signed.hash, keys)
    except BadSignature as error:
        return error.message
    return ""


def _check_witness(row: Record, statement_hash: str, keys: PublicKeys) -> None:
    signed = Signed(payload=row["witness"], signature=row["witness_signature"], key_id=row["witness_key_id"])
    said = keys.verify("witness", signed, Witness)
    if (said.checkpoint_hash, said.size, said.root) != (statement_hash, row["size"], row["root"]):
        raise BadSignature("the lock's signature is about another checkpoint")
