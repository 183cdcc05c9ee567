"""The bytes of attachments: read from the database, their hash looked at, and kept for the next visitor."""

from collections import OrderedDict

import structlog

from schemas.text import sha256
from services.site.attachments import store
from services.site.publication.books import Books
from shared.db import Database

MOST = 32 * 1024 * 1024
log = structlog.get_logger()


class FileBytes:
    """Up to 32 MiB. Whether somebody may have them is asked before, each time."""

    def __init__(self, db: Database, books: Books) -> None:
        self._db, self._books = db, books
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    async def read(self, hash_: str) -> bytes | None:
        """None when they are not there, or are others: then what names them is not shown, and the gate is asked for them."""
        kept = self._kept.get(hash_)
        if kept is not None and hash_ in self._books.holdings.files:
            self._kept.move_to_end(hash_)
            return kept
        async with self._db.reading() as tx:
            raw = await store.read(tx, hash_)
        if raw is None or sha256(raw) != hash_:
            log.warning("site.attachment_rejected", hash=hash_)
            self._books.file_went(hash_)
            return None
        self._keep(hash_, raw)
        return raw

    def _keep(self, hash_: str, raw: bytes) -> None:
        self._size += len(raw) - len(self._kept.pop(hash_, b""))
        self._kept[hash_] = raw
        while self._size > MOST:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest)
