"""Ask the gate for the entries behind our head and for a fresh signed head."""

import time

from schemas.site.v1 import GateRequested
from services.site.publication.books import Books
from shared.db import Tx

PAUSE = 2.0
"""Seconds between two questions, however many reasons there are to ask."""


async def ask_gate(tx: Tx, books: Books, after_seq: int, *, at_once: bool = False) -> bool:
    """Stage the question, unless one was asked just now. The nonce is this process's own."""
    present = time.monotonic()
    if not at_once and present - books.asked_at < PAUSE:
        return False
    books.asked_at = present
    books.asked += 1
    books.door.asked(books.log)
    question = GateRequested(after_seq=after_seq, nonce=books.door.nonce)
    tx.stage("gate.requested", question, key=books.door.nonce, version=books.asked)
    return True
