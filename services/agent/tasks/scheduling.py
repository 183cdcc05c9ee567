"""From words to a schedule that a task can have, and a task's schedule back to words and times."""

from datetime import datetime

from services.agent.tasks.domain import Task
from shared.errors import Refused
from shared.schedules.checks import check_rule
from shared.schedules.domain import Understood
from shared.schedules.sentences import Language
from shared.schedules.telling import Line, next_lines
from shared.schedules.words import describe, understand
from shared.schedules.words.language import spoken
from shared.schedules.words.vocabulary import fold
from shared.schedules.zones import check_zone

SHOWN = 5
"""Runs that a confirmation shows (rule 7)."""
LONGEST_WORDS = 500


def read_schedule(words: str, zone: str, at: datetime, before: Task | None = None) -> Understood:
    """`before`: the task of which these words correct the time. Refused with what to say instead."""
    corrected = None if before is None else Understood(before.rule, zone, before.words)
    return understand(words, zone, at, corrected)


def moved(task: Task, zone: str, at: datetime) -> Understood:
    """The same wall times in another zone (SC-04)."""
    found, language = check_zone(zone), language_of(task)
    words, notes = describe(task.rule, found, language), check_rule(task.rule, found, at, language=language)
    return Understood(task.rule, found, words, notes)


def language_of(task: Task) -> Language:
    """The one in which its schedule was said."""
    return spoken(fold(task.words).split())


def coming(task: Task, at: datetime, count: int = SHOWN) -> tuple[Line, ...]:
    """Its next times; none for a task of which nothing comes now."""
    if task.state not in ("active", "waiting"):
        return ()
    return next_lines(Understood(task.rule, task.zone, task.words), at, count, language=language_of(task))


def schedule_notes(task: Task, at: datetime) -> tuple[str, ...]:
    """What may surprise about its times; nothing of a task of which nothing comes."""
    try:
        return check_rule(task.rule, task.zone, at, language=language_of(task)) if task.state == "active" else ()
    except Refused:
        return ()
