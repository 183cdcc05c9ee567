"""A long conversation for a model's window: the middle is left out, and what was in it is said."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import structlog
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage

from services.agent.conversations.domain import Message, ToolCall
from services.agent.conversations.fit import fit, size_of
from services.agent.domain import mend
from services.agent.loop.domain import MAX_OUTPUT
from services.agent.loop.faults import words_of
from services.agent.loop.history import to_models
from services.agent.loop.models import Chosen
from services.agent.loop.running import Turn
from services.agent.loop.side import SideCalls
from shared.errors import SchleuseError

log = structlog.get_logger()
USUAL_WINDOW, BUILT_IN_WINDOW = 64_000, 24_000
"""Tokens, where the model's own window is not known."""
OVERHEAD = 12_000
"""Tokens for the preface and the tools."""
STALE_AFTER = 40
"""Messages that may have been left out since a summary was made."""
MOST_KEPT = 500
SHORTEST = 200
"""Characters of a message that a summary reads at least."""


@dataclass(frozen=True)
class Summary:
    """`upto`: the number of the newest message in it."""

    upto: int
    text: str


class Fitting:
    """Summaries are kept in memory: one that is lost is made anew, as a paid call of the turn that needs it."""

    def __init__(self, side: SideCalls) -> None:
        self._side = side
        self._summaries: OrderedDict[UUID, Summary] = OrderedDict()

    async def fit(self, turn: Turn, chosen: Chosen, history: Sequence[Message]) -> tuple[list[ModelMessage], str]:
        """What came before, and the message that is to be answered. TooLarge when that alone does not fit."""
        budget = budget_of(chosen)
        fitted = fit(history, budget)
        if fitted.left_out and not chosen.is_built_in:
            kept = {each.number for each in fitted.messages}
            said = await self._summary(turn, [each for each in history if each.number not in kept], budget // 2)
            fitted = fit(history, budget, said)
        return to_models(fitted.messages[:-1]), mend(fitted.messages[-1].text)

    async def _summary(self, turn: Turn, gone: Sequence[Message], budget: int) -> str:
        """Empty when there is none to be had: then what is left out is quoted instead."""
        place, upto = turn.ref.conversation_id, gone[-1].number
        found = self._summaries.get(place)
        if found is None or is_stale(gone, found.upto, budget):
            try:
                text = await self._side.summary(turn.turn_id, to_models(fit(cut(gone, budget), budget).messages))
            except (AgentRunError, SchleuseError, TimeoutError) as error:  # an extra: the turn goes on without one
                log.info("turn.unsummarised", why=words_of(error) or type(error).__name__)
                return ""
            found = self._summaries[place] = Summary(upto, text)
            while len(self._summaries) > MOST_KEPT:
                self._summaries.popitem(last=False)
        return found.text


def is_stale(gone: Sequence[Message], upto: int, budget: int) -> bool:
    """Whether too much has been left out since for the summary to stand for it."""
    new = [each for each in gone if each.number > upto]
    return len(new) > STALE_AFTER or sum(map(size_of, new)) > budget // 4


def cut(messages: Sequence[Message], budget: int) -> list[Message]:
    """Each to its share of what a summary may read, so that one long message does not stand for all; of tools what they showed."""
    share = max(SHORTEST, budget * 2 // max(1, len(messages)))
    return [replace(each, text=each.text[:share], calls=tuple(map(_told, each.calls))) for each in messages]


def _told(call: ToolCall) -> ToolCall:
    return replace(call, arguments={}, result=call.shown[:SHORTEST])


def budget_of(chosen: Chosen) -> int:
    if chosen.is_built_in:
        return BUILT_IN_WINDOW
    window = chosen.model.context_window or USUAL_WINDOW
    return max(window - MAX_OUTPUT - OVERHEAD, window // 4)
