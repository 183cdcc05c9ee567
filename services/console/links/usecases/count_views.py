"""Visitors came by share links: their views are counted by link and day, without a word of who they were."""

from collections import Counter
from collections.abc import Iterable

from schemas.site.v1 import Signal
from services.console.links import store
from shared.db import Tx


async def count_views(tx: Tx, signals: Iterable[Signal]) -> None:
    """Of signals that were counted for the first time."""
    views = Counter((each.link_id, each.at.date()) for each in signals if each.link_id and each.kind == "view")
    if views:
        await store.count_views(tx, {(link, day): n for (link, day), n in views.items() if link is not None})
