"""Waiting without guessing: ask again until the answer is there or the time is over."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LOOK_EVERY = 0.02


def until(look: Callable[[], T], seconds: float = 20.0, what: str = "", every: float = LOOK_EVERY) -> T:
    """The first truthy answer of `look`. AssertionError with its last answer when `seconds` are over."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(
                f"not within {seconds:g} s: {what or getattr(look, '__name__', 'condition')} (last answer: {found!r})"
            )
        time.sleep(every)
    return found


def stays(look: Callable[[], bool], seconds: float, what: str) -> None:
    """Assert that `look` is true the whole time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert look(), what
        time.sleep(LOOK_EVERY)
