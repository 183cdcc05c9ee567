"""One turn from its first message to its row. However it ends, it is written down once (rule 2)."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

import structlog
from pydantic_ai.exceptions import AgentRunError

from services.agent.conversations.domain import Conversations, Message, Outcome, TurnRecord
from services.agent.loop import preface
from services.agent.loop.domain import LONGEST, Kind
from services.agent.loop.faults import in_words, is_refusal, words_of
from services.agent.loop.fitting import Fitting
from services.agent.loop.metering import Counted, Metered, surely
from services.agent.loop.models import Chosen, Models
from services.agent.loop.outside import delegation
from services.agent.loop.rounds import Rounds
from services.agent.loop.running import Turn
from services.agent.loop.showing import show_cost
from services.agent.loop.side import SideCalls
from services.agent.loop.toolbox import Cards, Toolbox
from services.agent.owners.domain import Me
from services.agent.owners.still import Still
from services.agent.spend.domain import Call, Estimate, Figures, Reservation, Spending
from services.agent.tools.domain import Asked, Tools
from shared.errors import Conflict, NotFound, SchleuseError, Transient
from shared.faults import faults_told
from shared.ids import new_id
from shared.telemetry import current_traceparent, span, trace_id_of

log = structlog.get_logger()
AGAIN = 1.0
"""Seconds between two tries to write a turn down while the database is away."""
HOW: dict[Outcome, Kind] = {"ok": "done", "aborted": "stopped", "failed": "failed", "refused": "failed"}


class Turns:
    """How turns are run; one for a process. `tools`: asked for anew at each turn."""

    def __init__(
        self,
        conversations: Conversations,
        spending: Spending,
        models: Models,
        tools: Callable[[], Tools],
        cards: Cards,
        prefaces: Sequence[preface.Preface] = (),
        still: Still | None = None,
    ) -> None:
        """`still`: asked who the person is when their message's turn has come."""
        self._conversations, self._spending, self._models = conversations, spending, models
        self._tools, self._cards, self._prefaces = tools, cards, prefaces
        self._still = still
        self.side = SideCalls(spending)
        self._fitting = Fitting(self.side)

    async def run(self, turn: Turn) -> None:
        """Never raises but for a fault of ours that is no turn's."""
        outcome: Outcome = "ok"
        with span("turn"):
            trace_id = trace_id_of(current_traceparent())
            try:
                async with asyncio.timeout(LONGEST):
                    with faults_told("the turn"), in_words():
                        await self._run(turn)
            except asyncio.CancelledError:
                outcome = "aborted"
            except TimeoutError:
                outcome, turn.error = "failed", f"The turn took longer than {LONGEST / 60:.0f} minutes and was ended."
            except SchleuseError as error:
                outcome, turn.error = "refused" if is_refusal(error) else "failed", error.message
            turn.ending = True
            await self._end(turn, outcome, trace_id)

    async def _run(self, turn: Turn) -> None:
        ref = turn.ref
        if ref.before:
            turn.happen("waiting", {"text": turn.text, "before": ref.before})
        history = await self._conversations.start(turn.me, ref.conversation_id, ref.turn_id)
        turn.started = True
        turn.happen("started", {"text": turn.text})
        turn.me = await self._now(turn.me, turn)
        chosen = await self._models.choose(turn.me)
        turn.model = chosen.name
        self.side.begin(turn.turn_id, chosen, turn.bill)
        token = delegation.set(chosen.delegation)
        try:
            if chosen.is_built_in:
                await self._free(turn, chosen, history)
            else:
                await self._paid(turn, chosen, history)
        finally:
            self.side.end(turn.turn_id)
            delegation.reset(token)

    async def _now(self, me: Me, turn: Turn) -> Me:
        """Who they are by now. Refused when they may not come in any more."""
        return me if self._still is None else await self._still(me, turn.at)

    async def _free(self, turn: Turn, chosen: Chosen, history: Sequence[Message]) -> None:
        """The built-in model's requests are one row together: they cost nothing, and of a guest one line remains (rule 22)."""
        call = Call(new_id(), turn.turn_id, turn.me.account, "", chosen.model.model_name, turn.me.app, "reply")
        reservation = await self._spending.reserve(call, Estimate(0, 0))
        kind: Literal["settled", "aborted"] = "aborted"
        try:
            await self._answer(turn, chosen, Counted(chosen.model), history)
            kind = "settled"
        finally:
            await surely(self._settle(turn, reservation, kind))

    async def _settle(self, turn: Turn, reservation: Reservation, kind: Literal["settled", "aborted"]) -> None:
        turn.bill.add(await self._spending.settle(reservation, Figures(0, 0, 0), kind))

    async def _paid(self, turn: Turn, chosen: Chosen, history: Sequence[Message]) -> None:
        model = Metered(chosen.model, self._spending, turn.bill, chosen.connector, "reply")
        titled = asyncio.create_task(self._title(turn)) if is_first(history) else None
        try:
            await self._answer(turn, chosen, model, history)
            if titled is not None:
                await titled
        finally:
            if titled is not None:
                await _over(titled)
            await self._show(turn, chosen)

    async def _answer(self, turn: Turn, chosen: Chosen, model: Counted, history: Sequence[Message]) -> None:
        me, ref = turn.me, turn.ref
        words = await preface.gather(me, self._prefaces)
        conversation = await self._conversations.open(me, ref.conversation_id)
        sources = tuple(dict.fromkeys(source for each in words for source in each.sources))
        new = tuple(each for each in sources if each not in conversation.tainted)
        if new:
            await self._conversations.taint(me, ref.conversation_id, new)
        asked = Asked(me, ref.conversation_id, ref.turn_id, (*conversation.tainted, *new), said=turn.text)
        toolbox = Toolbox(asked, self._tools(), self._cards, turn.show_call, lambda read: self._taint(turn, read), lambda who: self._now(who, turn))  # fmt: skip
        before, prompt = await self._fitting.fit(turn, chosen, history)
        rounds = Rounds(turn, self._conversations, toolbox, model, lambda: self._show(turn, chosen))
        await rounds.run(before, prompt, preface.instructions(me, words, asked.tainted))

    async def _show(self, turn: Turn, chosen: Chosen) -> None:
        """What it cost so far; for display only, so that nothing depends on it."""
        if not chosen.is_built_in:
            with suppress(SchleuseError):
                await show_cost(turn, self._spending)

    async def _taint(self, turn: Turn, sources: Sequence[str]) -> None:
        await self._conversations.taint(turn.me, turn.ref.conversation_id, sources)

    async def _title(self, turn: Turn) -> None:
        """A conversation without one is no reason to fail its turn."""
        try:
            title = await self.side.title(turn.turn_id, turn.text)
            if title:
                await self._conversations.rename(turn.me, turn.ref.conversation_id, title)
        except (AgentRunError, SchleuseError, TimeoutError) as error:
            log.info("turn.untitled", why=words_of(error) or type(error).__name__)

    async def _end(self, turn: Turn, outcome: Outcome, trace_id: str) -> None:
        record = TurnRecord(
            turn.turn_id, turn.ref.conversation_id, turn.me.app, turn.model, turn.text, turn.at, "".join(turn.reply),
            turn.iterations, list(turn.calls), turn.bill.cost, outcome, turn.error, trace_id,
        )  # fmt: skip
        while True:
            try:
                await self._conversations.end(turn.me, record, aborted=outcome == "aborted")
            except (Conflict, NotFound) as error:
                log.info("turn.closed_elsewhere", turn=str(turn.turn_id), why=error.message)
            except Transient as error:
                log.warning("turn.waits_for_the_database", turn=str(turn.turn_id), error=error.message)
                await asyncio.sleep(AGAIN)
                continue
            turn.close(record, HOW[outcome])
            return


async def _over(titled: "asyncio.Task[None]") -> None:
    """Stopped with a turn that is stopped. One that only failed leaves it to its end, so that its bill is the provider's and no estimate."""
    turn = asyncio.current_task()
    if turn is not None and turn.cancelling():
        titled.cancel()
    await asyncio.gather(titled, return_exceptions=True)


def is_first(history: Sequence[Message]) -> bool:
    return sum(each.part == "user" for each in history) == 1
