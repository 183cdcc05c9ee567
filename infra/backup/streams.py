"""What lies in the bus's streams, out: one JSON line a message. Taken with the provisioner's identity, whose consumer only looks.

A message that its reader has not seen is in its sender's outbox too, for seven days; those that are older are only here.
"""

import asyncio
import base64
import json
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from infra.local.layout import Layout
from infra.nats.provision import connect
from infra.nats.topology import inbox, streams
from shared.errors import Transient

GONE_AFTER_SECONDS = 5.0
PATIENCE = 10.0
MESSAGES, BYTES = 2_000, 32 * 1024**2
"""How much may wait in memory. What is dropped beyond it is asked for again."""
Saved = dict[str, tuple[int, int]]


async def save(layout: Layout, ports: Sequence[int], into: Path) -> Saved:
    """Write every message there is now; by stream its first and last sequence. Transient when the bus does not answer."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on a closed TLS connection says nothing
    try:
        client = await connect(ports, layout.tls / "ca.pem", layout.admin_seed, "admin")
    except (NatsError, OSError, TimeoutError) as error:
        raise Transient(f"the bus does not answer ({error}); a backup needs it, or a stopped system") from None
    found: Saved = {}
    try:
        js = client.jetstream(timeout=10)
        with into.open("wb") as file:
            for stream in streams():
                state = (await js.stream_info(stream.name)).state
                if state.messages:
                    found[stream.name] = (state.first_seq, state.last_seq)
                    async for message in _messages(js, stream.name, state.first_seq, state.last_seq):
                        await asyncio.to_thread(file.write, _line(stream.name, message))
    except (NatsError, TimeoutError) as error:
        raise Transient(f"the bus stopped answering: {error}") from None
    finally:
        await client.close()
    return found


async def _messages(js: JetStreamContext, stream: str, first: int, last: int) -> AsyncIterator[Msg]:
    """In order, each once; begun again behind the last one when some were dropped because we were slow."""
    behind = first - 1
    while behind < last:
        before = behind
        async for message in _from(js, stream, behind + 1):
            number = _sequence(message)
            if number > last:
                return
            yield message
            behind = number
            if behind >= last:
                return
        if behind == before:
            return  # nothing more comes: what was there has been read and trimmed meanwhile


async def _from(js: JetStreamContext, stream: str, start: int) -> AsyncIterator[Msg]:
    """Messages from a sequence on, until none has come for a while or one is missing."""
    subject = f"{inbox('admin')}.backup.{secrets.token_hex(8)}"
    waiting = await js._nc.subscribe(subject, pending_msgs_limit=MESSAGES, pending_bytes_limit=BYTES)
    try:
        await js.add_consumer(stream, _looking(subject, start))
        count = 0
        while True:
            message = await waiting.next_msg(timeout=PATIENCE if not count else 2.0)
            count += 1
            if int(_fields(message)[6]) != count:
                return  # the consumer's own count jumped: something was dropped
            yield message
    except TimeoutError:
        return
    finally:
        await waiting.unsubscribe()


def _looking(subject: str, start: int) -> ConsumerConfig:
    return ConsumerConfig(
        name=f"backup_{secrets.token_hex(6)}",
        deliver_subject=subject,
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=max(start, 1),
        ack_policy=AckPolicy.NONE,
        inactive_threshold=GONE_AFTER_SECONDS,
        mem_storage=True,
        num_replicas=1,
    )


def _fields(message: Msg) -> list[str]:
    """`$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer coming form."""
    parts = message.reply.split(".")
    return parts if len(parts) == 9 else [*parts[:2], *parts[4:]]


def _sequence(message: Msg) -> int:
    return int(_fields(message)[5])


def _line(stream: str, message: Msg) -> bytes:
    found: dict[str, Any] = {
        "stream": stream,
        "subject": message.subject,
        "headers": dict(message.headers or {}),
        "body": base64.b64encode(message.data).decode(),
    }
    return json.dumps(found).encode() + b"\n"
