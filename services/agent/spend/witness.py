"""What the connectors' call audit says of a call that nobody settled: whether anything left, and what the provider's answer said of tokens."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from schemas.outward import Owner
from schemas.statements import Signed
from services.agent.spend.domain import Figures
from services.agent.spend.usecases.close_open import Known
from shared.asking.asker import Asker
from shared.errors import SchleuseError

PATIENCE = 5.0
"""Seconds. What the audit would have said later is not waited for: what was noted counts then."""


class AuditWitness:
    """Asks for an owner by that owner's delegation, for guests as the agent itself. `connected`: whether there is a bus to ask over."""

    def __init__(
        self, asker: Asker, connected: Callable[[], bool], delegation_of: Callable[[Owner], Awaitable[Signed | None]]
    ) -> None:
        self._asker, self._connected, self._delegation_of = asker, connected, delegation_of

    async def __call__(self, account: Owner, outside_call: UUID | None) -> Known | None:
        if outside_call is None or not self._connected():
            return None
        try:
            async with asyncio.timeout(PATIENCE):
                query = {"call_id": str(outside_call), "limit": 10}
                found = await self._asker.search_audit(query, delegation=await self._delegation_of(account))
        except (SchleuseError, TimeoutError):
            return None
        return known_from(found["entries"])


def known_from(entries: Sequence[Mapping[str, Any]]) -> Known | None:
    """None where the audit has nothing of that call: it may be another owner's or not be written yet."""
    if not entries:
        return None
    if all(each["outcome"] == "refused" for each in entries):
        return Known(left=False)
    for each in entries:
        if each.get("tokens_in") is not None and each.get("tokens_out") is not None:
            return Known(left=True, figures=Figures(each["tokens_in"], each["tokens_out"]))
    return Known(left=True)
