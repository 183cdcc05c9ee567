"""What open pages hear while one watches, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.live import messages
from services.console.people.domain import Session
from services.console.queue.views import count_waiting

CALM = 0.05
"""Seconds between two messages to one page: news in bursts comes as one."""


class Stream:
    """GET /live. Ends when the session ends, at sign-out within the moment (S8)."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/live", self._desk.page(self.listen))]

    async def listen(self, visit: Visit) -> Response:
        headers = {"Cache-Control": "private, no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(visit.session), media_type="text/event-stream", headers=headers)

    async def _events(self, session: Session) -> AsyncIterator[bytes]:
        async with self._console.live.listen(session.token_hash, session.caller.id) as listener:
            yield b"retry: 1000\n\n"
            async for bundle in messages(listener, session.ends_at):
                if not bundle:
                    yield b": here\n\n"
                    continue
                async with self._console.db.reading() as tx:
                    waiting = await count_waiting(tx)
                unique = {json.dumps(message, sort_keys=True): None for message in bundle}
                news = f'{{"waiting":{waiting},"news":[{",".join(unique)}]}}'
                yield f"data: {news}\n\n".encode()
                await asyncio.sleep(CALM)
