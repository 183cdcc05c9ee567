"""Search the call audit: the operator all of it, an asker what it did itself, and for an owner what it did for that owner."""

import asyncio
from collections.abc import Mapping
from typing import Any

from schemas.outward import Asker, Owner
from services.connectors.audit import views
from services.connectors.audit.query import Query, read_query
from shared.db import Database
from shared.errors import Refused

PATIENCE = 10.0
"""Seconds."""


async def search_audit(db: Database, query: Query) -> dict[str, Any]:
    """{"entries": newest first, "found": number, "more": bool: there are more than were counted, "next": `before` of what follows, or None}."""
    try:
        async with asyncio.timeout(PATIENCE), db.reading() as tx:
            entries, found = await views.search(tx, query), await views.count(tx, query)
    except TimeoutError:
        raise Refused(
            f"the search took longer than {PATIENCE:g} s; narrow it by time, connector or actor", code="search_slow"
        ) from None
    return {
        "entries": entries,
        "found": min(found, views.MOST_COUNTED),
        "more": found > views.MOST_COUNTED,
        "next": entries[-1]["seq"] if len(entries) == query.limit else None,
    }


async def search_own_audit(db: Database, asker: Asker, owner: Owner | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """`ask.connectors.<asker>.search_audit`: entries of this asker alone, for this owner alone; without an owner those for nobody.

    `owner` comes from a verified delegation, never from an argument (rule 24).
    """
    return await search_audit(db, read_query(asked).only(asker=asker, on_behalf_of=str(owner) if owner else ""))
