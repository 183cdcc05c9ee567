"""From what was said to a rule of a schedule (rules 6, 7, 7a); what cannot be one is refused with a hint."""

from datetime import datetime

from shared.schedules.domain import Interval, Once, Wall
from shared.schedules.words.domain import NotUnderstood, Said
from shared.schedules.words.line import Line, read_line
from shared.schedules.words.meaning import SECONDS
from shared.schedules.words.once import OnceMeaning
from shared.schedules.words.reading import read_all
from shared.schedules.words.recurring import IntervalMeaning, WallMeaning


def compose(line: Line, said: Said, zone: str, at: datetime) -> tuple[Once | Interval | Wall, list[str]]:
    """The rule and what may surprise. Raises NotUnderstood."""
    kind: type[OnceMeaning | IntervalMeaning | WallMeaning] = OnceMeaning
    if not said.offset and said.every and said.every[1] in SECONDS:
        kind = IntervalMeaning
    elif not said.offset and repeats(said):
        kind = WallMeaning
    meaning = kind(line, said, zone, at)
    return meaning.rule(), meaning.notes


def recurs(text: str) -> bool:
    """Whether words name a schedule that comes again."""
    try:
        said = read_all(read_line(text))
    except NotUnderstood:
        return False
    return repeats(said) and not said.offset


def repeats(said: Said) -> bool:
    return bool(
        said.every or said.recurring or said.habit or said.without or said.until or said.start or said.lasting
        or (said.monthly and said.coming is None) or (len(said.weekdays) > 1 and said.coming is None)
    )  # fmt: skip
