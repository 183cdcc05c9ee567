"""Area statements: forged decisions through the console's real account, forged publications through the bridge's. Nothing may change."""

import asyncio

from infra.prove.areas.decisions import check_decisions
from infra.prove.areas.envelopes import check_envelopes
from infra.prove.areas.publications import check_publications
from infra.prove.check import Book, Check
from infra.prove.target import Target
from infra.prove.traces import forget


async def check(target: Target) -> list[Check]:
    book = Book("statements")
    try:
        await asyncio.gather(
            check_decisions(target, book), check_envelopes(target, book), check_publications(target, book)
        )
    finally:
        await asyncio.gather(*(forget(target, service) for service in ("bridge", "site", "console")))
    return book.checks
