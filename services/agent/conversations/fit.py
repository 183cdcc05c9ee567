"""A long history is made to fit a model's window: the middle is left out, and a note in its place says what that was."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby

from services.agent.conversations.domain import Message, ToolCall
from shared.errors import TooLarge

LONG_RESULT = 2000
"""Characters of a tool's result that an older turn keeps once room is scarce."""
LINE = 120
MOST_LINES = 24
Size = Callable[[Message], int]


@dataclass(frozen=True)
class Fitted:
    """`messages` as the model gets them; `left_out` of the history are not among them, and a note says so."""

    messages: tuple[Message, ...]
    left_out: int = 0


def size_of(message: Message) -> int:
    """Tokens, at the upper end: a token of a common model is three bytes or more, and each part has its frame."""
    calls = json.dumps([asdict(call) for call in message.calls], ensure_ascii=False) if message.calls else ""
    return (len(message.text.encode("utf-8", "replace")) + len(calls.encode("utf-8", "replace"))) // 3 + 12


def fit(history: Sequence[Message], budget: int, said: str = "", size: Size = size_of) -> Fitted:
    """At most `budget` by `size`. What remains are whole turns: the first if it is small, and as many of the newest as there is room for.

    `said`: a summary of what came before, if there is one; without it the note quotes what the user asked. TooLarge when the last message
    alone does not fit.
    """
    if sum(map(size, history)) <= budget:
        return Fitted(tuple(history))
    turns = [list(group) for _, group in groupby(history, key=lambda message: message.turn_id or message.number)]
    last = _last_turn(turns.pop(), budget, size)
    room = budget - _sum(last, size)
    quoted = min(2000, max(64, budget // 10))
    first = turns.pop(0) if turns and _sum(turns[0], size) <= (room - quoted) // 4 else []
    room -= _sum(first, size) + quoted
    kept: list[list[Message]] = []
    while turns and (turn := _squeezed(turns[-1], room, size)):
        kept.insert(0, turn)
        room -= _sum(turn, size)
        turns.pop()
    gone = [message for turn in turns for message in turn]
    note = [_note(gone, said, quoted, size)] if gone else []
    return Fitted((*first, *note, *(message for turn in kept for message in turn), *last), len(gone))


def _sum(messages: Iterable[Message], size: Size) -> int:
    return sum(map(size, messages))


def _last_turn(turn: list[Message], budget: int, size: Size) -> list[Message]:
    """Never left out: it is what is to be answered."""
    shorter = _squeezed(turn, budget - 64, size)
    if shorter:
        return shorter
    raise TooLarge(
        f"This message and what belongs to it have about {_sum(turn, size)} tokens; the model takes {budget}. Send it in parts."
    )


def _squeezed(turn: list[Message], room: int, size: Size) -> list[Message]:
    """As it is, or with long results cut, or nothing when neither fits."""
    if _sum(turn, size) <= room:
        return turn
    shorter = [replace(message, calls=tuple(map(_shorter, message.calls))) for message in turn]
    return shorter if _sum(shorter, size) <= room else []


def _shorter(call: ToolCall) -> ToolCall:
    text = json.dumps(call.result, ensure_ascii=False)
    if len(text) <= LONG_RESULT:
        return call
    return replace(call, result={"start": text[:LONG_RESULT], "left_out": f"{len(text) - LONG_RESULT} characters"})


def _note(gone: Sequence[Message], said: str, room: int, size: Size) -> Message:
    """What is missing, from when to when, and what it was about, in at most `room`."""
    first, last = gone[0].at, gone[-1].at
    head = (
        f"{len(gone)} earlier messages ({first:%Y-%m-%d} to {last:%Y-%m-%d}) are left out here. They can be searched."
    )
    note = Message(0, "note", head, last)
    if said and size(longer := replace(note, text=f"{head} Summary of them: {said}")) <= room:
        return longer
    asked = [message.text for message in gone if message.part == "user"]
    lines = [" ".join(text.split())[:LINE] for text in asked[:: max(1, -(-len(asked) // MOST_LINES))]]
    while lines:
        longer = replace(note, text="\n- ".join([f"{head} Among others the user wrote:", *lines]))
        if size(longer) <= room:
            return longer
        lines.pop(len(lines) // 2)
    return note
