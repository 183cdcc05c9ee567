"""Every request to a model is reserved before it leaves and settled once, however it ends (rules 1, 2)."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Literal, cast
from uuid import UUID

from pydantic_ai._run_context import RunContext
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from schemas.outward import Owner
from services.agent.loop.domain import MAX_ITERATIONS, TRIES
from services.agent.loop.faults import billed, may_retry, wait_before
from services.agent.loop.figures import Size, cut, size_of, whole
from services.agent.loop.outside import Outside, outside
from services.agent.spend.domain import Call, Figures, Reservation, Spending
from shared.errors import Refused
from shared.ids import new_id

NOTE_EVERY = 0.3
"""Seconds between two notes of what was produced so far."""


@dataclass
class Bill:
    """What the calls of one turn have cost so far. None once the cost of one is not known (rule 30)."""

    turn_id: UUID
    account: Owner
    app: str
    cost: Decimal | None = Decimal(0)
    calls: int = 0

    def add(self, cost: Decimal | None) -> None:
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        self.calls += 1


@dataclass
class Running:
    """A request that is under way."""

    reservation: Reservation
    size: Size
    outside: Outside
    stream: StreamedResponse | None = None
    pieces: int = 0
    noted_at: float = 0.0

    def so_far(self) -> Figures:
        return cut(self.stream.get() if self.stream else None, self.pieces, self.size)


class Counted(WrapperModel):
    """A model that answers after so many requests of one turn at the latest."""

    def __init__(self, wrapped: Model, most: int = MAX_ITERATIONS) -> None:
        super().__init__(wrapped)
        self._most, self.requests = most, 0

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        settings = self.next(model_settings)
        async with self.wrapped.request_stream(messages, settings, model_request_parameters, run_context) as stream:
            yield stream

    async def saw(self) -> None:
        """A piece of the answer came."""

    def next(self, settings: ModelSettings | None) -> ModelSettings | None:
        """The last request that a turn may make offers no tools: the model answers with what it has."""
        self.requests += 1
        if self.requests > self._most:
            raise Refused(
                f"The model asked for more than {self._most} rounds of tools; the turn was ended.", code="iterations"
            )
        if self.requests == self._most and self._most > 1:
            return cast(ModelSettings, {**(settings or {}), "tool_choice": "none"})
        return settings


class Metered(Counted):
    """A model whose every request is a row of the ledger. One for a turn, or for a side call of it."""

    def __init__(self, wrapped: Model, spending: Spending, bill: Bill, connector: str, purpose: str, most: int = MAX_ITERATIONS) -> None:  # fmt: skip
        super().__init__(wrapped, most)
        self._spending, self._bill = spending, bill
        self._connector, self._purpose = connector, purpose
        self._running: Running | None = None

    async def request(self, messages: list[ModelMessage], model_settings: ModelSettings | None, model_request_parameters: ModelRequestParameters) -> ModelResponse:  # fmt: skip
        """One answer as a whole, by way of a stream: what was cut off is counted just as well."""
        async with self.request_stream(messages, model_settings, model_request_parameters) as stream:
            async for _ in stream:
                await self.saw()
        return stream.get()

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Refused (`cap`, `price`) before anything leaves; (`iterations`) when the model asks for ever more."""
        settings = self.next(model_settings)
        size = size_of(messages, settings, model_request_parameters)
        async with AsyncExitStack() as stack:

            async def open_one() -> StreamedResponse:
                asked = self.wrapped.request_stream(messages, settings, model_request_parameters, run_context)
                return await stack.enter_async_context(asked)

            running = await self._opened(open_one, size)
            assert running.stream is not None
            self._running = running
            stack.push_async_exit(self._ended)
            yield running.stream

    async def saw(self) -> None:
        """A piece of the answer came. What was produced is noted now and then, in case this process dies."""
        running, at = self._running, asyncio.get_running_loop().time()
        if running is None:
            return
        running.pieces += 1
        if not running.reservation.price.is_free and at - running.noted_at >= NOTE_EVERY:
            running.noted_at = at
            await self._spending.note(running.reservation, running.so_far(), running.outside.call_id)

    async def _opened(self, open_one: Callable[[], Awaitable[StreamedResponse]], size: Size) -> Running:
        """The answer begins. Where the provider cannot answer now it is asked again, as another call."""
        for tried in range(1, TRIES + 1):
            running = Running(await self._reserve(size), size, Outside())
            token = outside.set(running.outside)
            try:
                async with AsyncExitStack() as unless_opened:
                    unless_opened.push_async_exit(partial(self._given_up, running))
                    running.stream = await open_one()
                    unless_opened.pop_all()
                    return running
            except ModelAPIError as error:
                if tried == TRIES or not may_retry(error):
                    raise
                await asyncio.sleep(wait_before(error, tried))
            finally:
                outside.reset(token)
        raise AssertionError("unreachable")

    async def _given_up(self, running: Running, kind: Any, error: BaseException | None, at: Any) -> None:
        said = None if error is None else billed(error)
        await self._settle(running, said or self._unanswered(running), "aborted")

    async def _ended(self, kind: Any, error: BaseException | None, at: Any) -> None:
        """Whole, broken off, or stopped."""
        running, self._running = self._running, None
        assert running is not None and running.stream is not None
        if error is not None:
            await self._settle(running, billed(error) or running.so_far(), "aborted")
        elif running.stream.get().state == "incomplete":
            await self._settle(running, running.so_far(), "aborted")
        else:
            await self._settle(running, whole(running.stream, running.size), "settled")

    def _unanswered(self, running: Running) -> Figures:
        """It left, and nobody said what became of it: what it read may have been charged. What never left cost nothing."""
        if running.outside.answered or not running.outside.left:
            return Figures(0, 0, None, estimated=True)
        return running.so_far()

    async def _reserve(self, size: Size) -> Reservation:
        bill = self._bill
        call = Call(
            new_id(), bill.turn_id, bill.account, self._connector, self.wrapped.model_name, bill.app, self._purpose
        )
        return await self._spending.reserve(call, size.estimate)

    async def _settle(self, running: Running, figures: Figures, kind: Literal["settled", "aborted"]) -> None:
        async def settle() -> None:
            self._bill.add(await self._spending.settle(running.reservation, figures, kind))

        await surely(settle())


async def surely(work: Coroutine[Any, Any, None]) -> None:
    """To its end, also when whoever waits for it is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
