"""One call while it runs, as its kind sees it: what it may use, and where its answer goes. Bytes are counted for the audit."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from services.connectors.calls.running import Call
from services.connectors.egress.way import Way
from services.connectors.kinds.kind import Plan, Request
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.secrets.types import SecretValue
from shared.asking.wire import HEAD
from shared.errors import TooLarge

MOST_TOKENS = 2**53
OlderVersion = Callable[[], Awaitable[SecretValue | None]]


@dataclass
class CallExchange:
    """`status`, `details` and the figures are what the audit says at the end. None: unknown."""

    call: Call
    request: Request
    plan: Plan
    secrets: Sequence[SecretValue]
    way: Way
    access: AccessTokens
    older: OlderVersion
    status: str = ""
    details: list[str] = field(default_factory=list)
    bytes_out: int = 0
    bytes_in: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None

    async def body(self) -> AsyncIterator[bytes]:
        """Once: what is read is gone. Of an operation there is none, its arguments are in the request."""
        more = self.request.http is not None
        while more:
            part, more = await self.call.take()
            self.bytes_out += len(part)
            if part:
                yield part

    async def head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        self.status = str(status)
        said = {"status": status, "headers": list(headers), "call_id": str(self.call.call_id)}
        await self.call.say(HEAD, json.dumps(said).encode())

    async def send(self, chunk: bytes) -> None:
        limit = self.request.settings.max_response_bytes
        if self.bytes_in + len(chunk) > limit:
            raise TooLarge(
                f"the answer of {self.request.connector} is over {limit} bytes and was cut; ask for less at once",
                code="answer_too_large",
            )
        self.bytes_in += len(chunk)
        await self.call.send(chunk)

    def tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """A figure that no count can be is unknown (rule 30): the other side says what it likes."""
        self.tokens_in, self.tokens_out = _count(tokens_in), _count(tokens_out)

    def answered(self, status: str) -> None:
        self.status = status

    def note(self, detail: str) -> None:
        self.details.append(detail)

    async def rejected(self) -> SecretValue | None:
        return await self.older()


def _count(given: object) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < MOST_TOKENS else None
