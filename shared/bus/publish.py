"""Publish outbox rows to JetStream: an atomic batch where several wait, one by one otherwise or when a batch is refused."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

from shared.bus.wire import publication, send
from shared.errors import Permanent, Transient
from shared.ids import fresh_id

FEWEST_FOR_A_BATCH = 10
"""Under `sync_interval: always` each single publish is an fsync; from ten on, a batch is cheaper (measured)."""
ACK_TIMEOUT = 2.0
_NEVER = {10054, 10060, 10026}
"""Message too large, wrong stream, no such subject: trying again changes nothing."""


@dataclass(frozen=True)
class Outgoing:
    """One row to publish."""

    position: int
    event_id: str
    subject: str
    headers: dict[str, str]
    body: bytes


class RefusedBatch(Exception):
    """The server takes none of the batch; single publishes will say why."""


async def publish(client: Client, rows: Sequence[Outgoing], patience: float = ACK_TIMEOUT) -> int:
    """Publish in order; returns how many are on the server's disk, counted from the front. `patience`: seconds for each PubAck.

    Transient or TimeoutError when the server does not answer; what it may have stored is sent again with the same ids.
    """
    if len(rows) >= FEWEST_FOR_A_BATCH:
        try:
            await _publish_batch(client, rows, max(patience, ACK_TIMEOUT))
            return len(rows)
        except RefusedBatch:
            pass
    for row in rows:
        await _publish_one(client, row, patience)
    return len(rows)


async def _publish_batch(client: Client, rows: Sequence[Outgoing], patience: float) -> None:
    batch = {"Nats-Batch-Id": str(fresh_id())}
    *before, last = [
        (row, row.headers | batch | {"Nats-Msg-Id": row.event_id, "Nats-Batch-Sequence": str(number)})
        for number, row in enumerate(rows, 1)
    ]
    try:
        await send(client, [publication(row.subject, headers, row.body) for row, headers in before])
    except NatsError as error:
        raise Transient(f"the bus did not take a batch: {error}") from error
    row, headers = last
    answer = await _request(client, row.subject, row.body, headers | {"Nats-Batch-Commit": "1"}, patience)
    if "error" in answer or answer.get("count") != len(rows):
        raise RefusedBatch


async def _publish_one(client: Client, row: Outgoing, patience: float) -> None:
    answer = await _request(client, row.subject, row.body, row.headers | {"Nats-Msg-Id": row.event_id}, patience)
    error = answer.get("error")
    if error is None:
        return
    text = f"the bus refused {row.subject}: {error.get('description')}"
    if error.get("err_code") in _NEVER:
        raise Permanent(text)
    raise Transient(text)


async def _request(
    client: Client, subject: str, body: bytes, headers: dict[str, str], patience: float
) -> dict[str, Any]:
    try:
        answer = await client.request(subject, body, timeout=patience, headers=headers)
    except (TimeoutError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise Transient(f"the bus did not store {subject}: {error}") from error
    found: dict[str, Any] = json.loads(answer.data)
    return found
