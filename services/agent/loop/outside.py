"""The way out of a model's client: through the connector, for the owner whose turn it is. One client serves all owners."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

import httpx2

from schemas.statements import Signed
from shared.asking.asker import Asker
from shared.errors import SchleuseError


@dataclass
class Outside:
    """Of one request: whether it left, whether it was answered, and what the connectors' audit calls it."""

    left: bool = False
    answered: bool = False
    call_id: UUID | None = None


outside: ContextVar[Outside | None] = ContextVar("outside", default=None)
delegation: ContextVar[Signed | None] = ContextVar("delegation", default=None)
"""For whom requests of this task are made; None: for the agent itself, on behalf of nobody (guests)."""


class OwnersTransport(httpx2.AsyncBaseTransport):
    """Each request goes out with the delegation of whoever it is made for."""

    def __init__(self, asker: Asker, connector: str) -> None:
        self._asker, self._connector = asker, connector

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        way = self._asker.transport(self._connector, delegation=delegation.get())
        mine = outside.get() or Outside()
        mine.left = True
        try:
            answer = await way.handle_async_request(request)
        except SchleuseError as error:
            mine.left = not error.nothing_left
            raise
        said = answer.extensions.get("call_id")
        mine.call_id = UUID(str(said)) if said else None
        mine.answered = answer.status_code >= 400
        return answer
