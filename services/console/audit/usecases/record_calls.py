"""What the connectors did, as they wrote it down."""

from collections.abc import Sequence
from typing import Any

from schemas.connectors import v1, v2
from services.console.audit import store
from shared.db import Tx

Audited = v1.CallAudited | v2.CallAudited
_UNKNOWN_BEFORE = dict.fromkeys(v2.CallAudited.model_fields) | {"secret": "", "detail": ""}
"""What the first version did not say."""


async def record_calls(tx: Tx, audited: Sequence[Audited]) -> None:
    await store.add_calls(tx, [_row(each) for each in audited])


def _row(audited: Audited) -> dict[str, Any]:
    return _UNKNOWN_BEFORE | audited.model_dump()
