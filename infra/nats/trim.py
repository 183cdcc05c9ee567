"""Removes from the streams what every reader has acknowledged.

With `sync_interval: always` an interest stream writes and syncs a tombstone for each acknowledged message; removing them
together by sequence costs next to nothing (infra/decisions, streams are trimmed). Only the admin identity may do it.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo, StreamInfo

from infra.nats.provision import Where, connect
from infra.nats.topology import durables, streams

EVERY = 3.0


class Trimmer:
    """One round looks at every stream. A reader that is away, or has something in hand, keeps its messages."""

    def __init__(self) -> None:
        self._quiet: dict[tuple[str, str], int] = {}

    async def round(self, js: JetStreamContext) -> int:
        """How many messages went."""
        return sum([await self._stream(js, stream.name) for stream in streams()])

    async def _stream(self, js: JetStreamContext, name: str) -> int:
        info = await js.stream_info(name)
        state = info.state
        if not state.messages:
            return 0
        readers = [await js.consumer_info(name, each.name) for each in durables() if each.stream == name]
        level = is_level(info)
        done = min(self._done(reader, state.last_seq, level=level) for reader in readers)
        if done < state.first_seq:
            return 0
        await js.purge_stream(name, seq=done + 1)
        return done + 1 - state.first_seq

    def _done(self, reader: ConsumerInfo, last: int, *, level: bool) -> int:
        """Up to which sequence of the stream nothing is left for this reader.

        The acknowledged floor stands still while only the other lane's messages come. So a reader that waits for
        messages, with none pending and none in hand, two rounds in a row, is done with what there was a round ago.
        Unless some replica lacks messages (not `level`): whoever serves the reader there may not have seen them.
        """
        key = (reader.stream_name, reader.name)
        before = self._quiet.pop(key, 0)
        floor = reader.ack_floor.stream_seq if reader.ack_floor else 0
        if not level or reader.num_pending or reader.num_ack_pending or not reader.num_waiting:
            return floor
        self._quiet[key] = last
        return max(floor, before)


def is_level(info: StreamInfo) -> bool:
    """Whether every replica of a stream holds all of it."""
    replicas = (info.cluster.replicas if info.cluster else None) or []
    return all(each.current and not each.offline and not each.lag for each in replicas)


async def keep_trimming(port: Where | Sequence[Where], ca: Path, admin_seed: Path) -> None:
    """Until cancelled. While the bus is away there is nothing to do but to try again."""
    while True:
        try:
            client = await connect(port, ca, admin_seed, "admin")
        except (NatsError, OSError, TimeoutError):
            await asyncio.sleep(EVERY)
            continue
        try:
            trimmer, js = Trimmer(), client.jetstream(timeout=5)
            while True:
                await asyncio.sleep(EVERY)
                await trimmer.round(js)
        except (NatsError, OSError, TimeoutError):
            await asyncio.sleep(EVERY)
        finally:
            await client.close()
