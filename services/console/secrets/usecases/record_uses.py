"""The call audit tells which secret was used; lists show when that was last."""

import re
from collections.abc import Iterable
from datetime import datetime

from schemas.connectors import v1, v2
from services.console.secrets import store
from shared.db import Tx

_LABEL = re.compile(r"(\S+) v(\d{1,9})(?:,|$)")
"""`agent/llm/openai v3`; several of one call are apart by a comma."""


async def record_uses(tx: Tx, calls: Iterable[v1.CallAudited | v2.CallAudited]) -> None:
    """What was refused or only noted used nothing; the first version of the entries did not say."""
    newest: dict[tuple[str, int], datetime] = {}
    for call in calls:
        if isinstance(call, v1.CallAudited) or call.outcome in ("refused", "noted"):
            continue
        for place, version in _LABEL.findall(call.secret):
            key = (place, int(version))
            newest[key] = max(call.at, newest.get(key, call.at))
    if newest:
        # sorted: two batches that touch the same rows lock them in one order
        await store.used(tx, [{"place": place, "version": v, "at": at} for (place, v), at in sorted(newest.items())])
