"""What a page says, in one language: sentences, figures, times."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from services.console.words.catalogue import catalogue, fill
from services.console.words.languages import Language

_MONTHS = ("Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez.")
_GERMAN_FIGURES = str.maketrans(",.", ".,")


class Words:
    """One language. Nothing here is escaped; templates do that."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._there = catalogue(language)

    def say(self, text: str, /, **values: Any) -> str:
        """The text in this language, with its values."""
        if not values:
            return self._there.told(text)
        return fill(self.literal(text), {name: str(value) for name, value in values.items()})

    def literal(self, text: str) -> str:
        """The message itself, its values still open."""
        return self._there.get(text) or text

    def count(self, one: str, many: str, n: int, /, **values: Any) -> str:
        """`one` when it is exactly one, else `many`; `{n}` is the figure."""
        return self.say(one if n == 1 else many, n=self.figure(n), **values)

    def figure(self, number: float | Decimal, places: int = 0) -> str:
        """`1,234.5`, in German `1.234,5`."""
        shown = f"{number:,.{places}f}" if places else f"{number:,}"
        return shown.translate(_GERMAN_FIGURES) if self.language == "de" else shown

    def day(self, at: date) -> str:
        """`30 Nov`, in German `30. Nov.`"""
        return f"{at.day}. {_MONTHS[at.month - 1]}" if self.language == "de" else f"{at.day} {at:%b}"

    def date(self, at: date) -> str:
        """`30 Nov 2026`, in German `30. Nov. 2026`."""
        return f"{self.day(at)} {at:%Y}"

    def minute(self, at: datetime) -> str:
        """`30 Nov 2026, 11:41`."""
        return f"{self.date(at)}, {at:%H:%M}"

    def ago(self, passed: timedelta) -> str:
        """`3 d`, `2 h`, `5 min`, `now`."""
        seconds = max(0, int(passed.total_seconds()))
        for size, word in ((86400, "{n} d"), (3600, "{n} h"), (60, "{n} min")):
            if seconds >= size:
                return self.say(word, n=seconds // size)
        return self.say("now")
