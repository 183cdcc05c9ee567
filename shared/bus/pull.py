"""A pull subscription on a durable: two requests outstanding, the queue drained in one go.

Three times cheaper per message than `fetch` (measured). It reads two private attributes of nats-py's
Subscription (`_pending_queue`, `_pending_size`): the version is pinned, and a test in tests/parts holds the expectation.
"""

import asyncio
import json
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from shared.bus.connection import API_PREFIX
from shared.ids import fresh_id

BATCH_BYTES = 1024 * 1024
"""A batch ends with the message that passes this: fat events take their time and memory in small portions."""
EXPIRES = 5.0
"""Seconds that a pull request lives on the server."""
EXPIRES_CLUSTER = 0.5
"""A leader that is killed takes the requests with it and says nothing: they are made anew so often."""
NOBODY_PAUSE = 0.1
"""Seconds between two requests while nobody leads the durable."""


class _Wake:
    """Put into the queue to end a wait."""


class Pull:
    """Messages of one durable. `next()` waits for at least one and returns what is there, up to `batch`."""

    def __init__(
        self, client: Client, service: str, stream: str, durable: str, batch: int, expires: float = EXPIRES
    ) -> None:
        self._client, self._expires = client, expires
        self._subject = f"{API_PREFIX}.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._inbox = f"_INBOX_{service}.pull.{fresh_id().hex}"
        self._request = json.dumps({"batch": batch, "expires": int(expires * 1e9)}).encode()
        self._batch = batch
        self._outstanding = 0
        self._asked = 0
        self._nobody = False
        self._subscription: Any = None

    async def start(self) -> None:
        self._subscription = await self._client.subscribe(
            f"{self._inbox}.*", pending_msgs_limit=100_000, pending_bytes_limit=256 * 1024 * 1024
        )

    async def stop(self) -> None:
        """Requests on the server die with the subscription; messages not taken come again after ack_wait."""
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()

    def wake(self) -> None:
        """Make a waiting `next` return at once."""
        if self._subscription is not None:
            self._subscription._pending_queue.put_nowait(_Wake())

    def restart(self) -> None:
        """After a reconnect the server has forgotten the requests: ask again."""
        self._outstanding = 0
        self.wake()

    async def next(self) -> list[Msg]:
        """One to `batch` messages; an empty list when none came within the request's life."""
        await self._ask()
        queue = self._subscription._pending_queue
        if queue.empty():
            try:
                async with asyncio.timeout(self._expires * 1.2):
                    first = await queue.get()
            except TimeoutError:
                self._outstanding = 0
                return []
        else:
            first = queue.get_nowait()
        found = self._take(first)
        if not found and self._nobody:
            self._nobody = False
            await asyncio.sleep(NOBODY_PAUSE)
        size = len(found[0].data) if found else 0
        while len(found) < self._batch and size < BATCH_BYTES and not queue.empty():
            more = self._take(queue.get_nowait())
            size += sum(len(message.data) for message in more)
            found += more
        return found

    async def _ask(self) -> None:
        """Keep between one and two requests' worth of messages coming."""
        while self._outstanding <= self._batch:
            self._asked += 1
            self._outstanding += self._batch
            await self._client.publish(self._subject, self._request, reply=f"{self._inbox}.{self._asked}")

    def _take(self, message: Any) -> list[Msg]:
        if isinstance(message, _Wake):
            return []
        self._subscription._pending_size -= len(message.data)
        status = message.headers.get("Status") if message.headers else None
        self._nobody = status == "503"
        if status is None:
            self._outstanding -= 1
            return [message]
        left = message.headers.get("Nats-Pending-Messages")
        self._outstanding = self._outstanding - int(left) if left else 0
        self._outstanding = max(0, self._outstanding)
        return []
