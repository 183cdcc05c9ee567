"""Let events through from one surface to another as the policy says, a batch at a time."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from schemas.catalogue import BY_NAME
from schemas.connectors.v2 import CallAudited
from schemas.site.v1 import Signal, SignalsRecorded
from services.bridge import store
from services.bridge.domain import fault_line
from services.bridge.store import Crossing
from services.bridge.usecases.record_crossings import crossing_of, record_crossings
from shared.bus import Received
from shared.db import Tx

BREATH = 10
"""Events after which others get a turn: at most 1,000 signals, some 4 ms."""
MAX_SIGNALS_BYTES = 256 * 1024
"""Of one micro-batch (architecture 3)."""


async def forward_events(tx: Tx, events: Sequence[Received[Any]]) -> None:
    """Events of one type. One crossing for each event and receiver, in one statement."""
    policies = await store.policies(tx)
    crossings: list[Crossing] = []
    for at, event in enumerate(events, start=1):
        for receiver in BY_NAME[event.name].readers:
            policy = policies.get((event.sender, receiver, event.name), "block")
            crossings.append(await _forward(tx, event, receiver, policy))
        if at % BREATH == 0:
            await asyncio.sleep(0)  # a decision must not wait for a whole batch of signals
    await record_crossings(tx, crossings)


async def _forward(tx: Tx, event: Received[Any], receiver: str, policy: str) -> Crossing:
    if policy == "block":
        return crossing_of(event, receiver, policy, "blocked", "the policy blocks this way")
    if policy == "review":
        await tx.park(event, "the policy wants a person's look before this crosses")
        return crossing_of(event, receiver, policy, "parked", "the policy wants a person's look")
    if isinstance(event.data, SignalsRecorded):
        return await _forward_signals(tx, event, receiver, policy)
    tx.forward(event, receiver)
    crossing = crossing_of(event, receiver, policy, "delivered")
    return crossing._replace(signature_hash=event.data.hash) if isinstance(event.data, CallAudited) else crossing


async def _forward_signals(tx: Tx, event: Received[SignalsRecorded], receiver: str, policy: str) -> Crossing:
    """Each signal is checked alone; a bad one is parked as a part with its reason, and the others pass."""
    if len(event.raw) > MAX_SIGNALS_BYTES:
        reason = f"the micro-batch has {len(event.raw)} bytes; at most {MAX_SIGNALS_BYTES} (256 KiB) can cross"
        await tx.park(event, reason)
        return crossing_of(event, receiver, policy, "parked", reason)
    good, bad = _sort(event.data.signals)
    for signal, reason in bad:
        await tx.park(event, reason, part=json.dumps(signal).encode())
    if not good:
        return crossing_of(event, receiver, policy, "parked", f"none of {len(bad)} signals fits its schema")
    tx.forward(event, receiver, _with_signals(event, good) if bad else None)
    reason = f"{len(bad)} of {len(bad) + len(good)} signals parked" if bad else ""
    return crossing_of(event, receiver, policy, "delivered", reason)


def _sort(signals: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[tuple[dict[str, Any], str]]]:
    good, bad = [], []
    for signal in signals:
        try:
            Signal.model_validate(signal)
        except ValidationError as error:
            fault = fault_line(error.errors(include_url=False, include_input=False, include_context=False))
            bad.append((signal, f"the signal does not fit its schema: {fault}"))
        else:
            good.append(signal)
    return good, bad


def _with_signals(event: Received[SignalsRecorded], good: list[dict[str, Any]]) -> bytes:
    data = event.data.model_dump(mode="json") | {"signals": good}
    return event.envelope.model_copy(update={"data": data}).to_bytes()
