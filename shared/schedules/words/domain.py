"""What was said of a schedule, piece by piece, before a rule is made of it. No clock, no zone."""

from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Literal

from shared.errors import Refused

Lang = Literal["en", "de"]
Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
Part = Literal["am", "pm", "morning", "noon", "afternoon", "evening", "night"]
LONGEST = 300
"""Characters of a schedule in words."""
WORKDAYS, WEEKEND = (1, 2, 3, 4, 5), (6, 7)


class NotUnderstood(Refused):
    """It is not clear what was meant, so nothing was made of it. `hint` says what to write instead."""

    default_code = "not_understood"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


@dataclass(frozen=True)
class Clock:
    """A time of day as it was said. `bare`: an hour from 1 to 12 without anything that tells morning from evening."""

    time: time
    part: Part | None = None
    bare: bool = False


@dataclass(frozen=True)
class Day:
    """A date as it was said; the year may be open. `day` -1 is the month's last; None the first ("from January on")."""

    month: int
    day: int
    year: int | None = None


@dataclass
class Said:
    """Everything that a text says of a schedule. Each slot is filled once; saying it twice is a contradiction."""

    clocks: list[Clock] = field(default_factory=list)
    part: Part | None = None
    every: tuple[float, Unit] | None = None
    recurring: bool = False
    weekdays: tuple[int, ...] = ()
    habit: bool = False
    nth: int | None = None
    days: tuple[int, ...] = ()
    monthly: bool = False
    month: int | None = None
    date: Day | None = None
    instant: datetime | None = None
    offset: list[tuple[float, Unit]] = field(default_factory=list)
    ahead: int | None = None
    coming: tuple[int, Unit] | None = None
    until: "Said | None" = None
    start: "Said | None" = None
    lasting: tuple[float, Unit] | None = None
    without: tuple[int, ...] = ()
    window: tuple[Clock, Clock] | None = None
    cleanup: bool = False
    full: bool = False
    alternate: bool = False
    quarterly: bool = False

    def fill(self, lang: Lang, **what: object) -> None:
        """Raises NotUnderstood for a slot that already holds something else."""
        for name, value in what.items():
            held = getattr(self, name)
            if held is not None and held is not False and held not in ((), []) and held != value:
                raise NotUnderstood(
                    *(
                        ("Das widerspricht sich.", "Sage jede Angabe einmal, etwa „jeden Sonntag um 7“.")
                        if lang == "de"
                        else ("That contradicts itself.", "Say each part once, such as “every Sunday at 7”.")
                    )
                )
            setattr(self, name, value)

    @property
    def has_day(self) -> bool:
        return bool(
            self.every or self.recurring or self.weekdays or self.days or self.monthly or self.month or self.date or self.offset
            or self.ahead is not None or self.coming or self.nth or self.instant
        )  # fmt: skip
