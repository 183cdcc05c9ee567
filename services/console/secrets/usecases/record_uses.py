"""The call audit tells which secret was used; lists show when that was last."""

import re
from collections.abc import Iterable
from datetime import datetime

from services.console.secrets import store
from shared.db import Tx

_LABEL = re.compile(r"(\S+) v(\d{1,9})(?:,|$)")
"""`agent/llm/openai v3`; several of one call are apart by a comma."""


async def record_uses(tx: Tx, calls: Iterable[tuple[datetime, str]]) -> None:
    """`calls`: when, and the labels of what was used (often none)."""
    newest: dict[tuple[str, int], datetime] = {}
    for at, labels in calls:
        for place, version in _LABEL.findall(labels):
            key = (place, int(version))
            newest[key] = max(at, newest.get(key, at))
    if newest:
        # sorted: two batches that touch the same rows lock them in one order
        await store.used(tx, [{"place": place, "version": v, "at": at} for (place, v), at in sorted(newest.items())])
