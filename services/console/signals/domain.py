"""Validating and adding up signals. Pure, and fast: one call handles thousands."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from schemas.site.v1 import Signal

_MANY, _ONE = TypeAdapter(list[Signal]), TypeAdapter(Signal)
LONGEST_KEY = 800
"""Bytes of an item key; a B-tree entry takes at most 2,704."""


@dataclass
class Tally:
    """What a batch adds: view counts, the last vote of each visitor and item, reactions, feedback."""

    views: Counter[tuple[date, str]] = field(default_factory=Counter)
    votes: dict[tuple[str, str], tuple[int, datetime]] = field(default_factory=dict)
    reactions: dict[tuple[str, str, str], datetime] = field(default_factory=dict)
    feedback: dict[UUID, tuple[str, str, datetime, str]] = field(default_factory=dict)
    signals: list[Signal] = field(default_factory=list)
    """All that were counted."""

    def add(self, signal: Signal) -> None:
        at = signal.at.astimezone(UTC)
        key = item_key(signal.item_id, signal.path)
        if signal.kind == "view":
            self.views[at.date(), key] += 1
        elif signal.kind == "vote":
            held = self.votes.get((key, signal.visitor))
            if held is None or held[1] <= at:
                self.votes[key, signal.visitor] = (signal.value, at)
        elif signal.kind == "reaction" and signal.reaction:
            self.reactions[key, signal.visitor, signal.reaction] = at
        elif signal.kind == "feedback" and signal.text:
            self.feedback[signal.signal_id] = (key, signal.path, at, signal.text)
        self.signals.append(signal)


def item_key(item_id: UUID | None, path: str) -> str:
    """What a signal counts under: the item's id, or the path of something that is no item (rule 30a)."""
    if item_id is not None:
        return str(item_id)
    raw = path.encode()
    if len(raw) <= LONGEST_KEY:
        return path
    return f"{raw[:LONGEST_KEY].decode(errors='ignore')}…{hashlib.sha256(raw).hexdigest()[:16]}"


def read_signals(listed: list[dict[str, Any]]) -> tuple[list[Signal], list[tuple[dict[str, Any], str]]]:
    """The good signals, and the bad ones with the reason. One bad signal does not spoil the others."""
    try:
        return _MANY.validate_python(listed), []
    except ValidationError:
        return _one_by_one(listed)


def _one_by_one(listed: Iterable[dict[str, Any]]) -> tuple[list[Signal], list[tuple[dict[str, Any], str]]]:
    good: list[Signal] = []
    bad: list[tuple[dict[str, Any], str]] = []
    for each in listed:
        try:
            good.append(_ONE.validate_python(each))
        except ValidationError as error:
            fault = error.errors(include_input=False)[0]
            bad.append((each, f"a signal's {'.'.join(map(str, fault['loc'])) or 'form'}: {fault['msg']}"))
    return good, bad


def add_up(tally: Tally, signals: Iterable[Signal]) -> list[tuple[Signal, str]]:
    """Add signals; those whose time cannot be put into UTC come back with the reason."""
    bad: list[tuple[Signal, str]] = []
    for signal in signals:
        try:
            tally.add(signal)
        except OverflowError:
            bad.append((signal, "a signal's at: the time is outside the calendar in UTC"))
    return bad
