"""From words to a schedule that a task can have, and a task's schedule back to words and times."""

from datetime import datetime

from shared.schedules.words.describing import describe

from services.agent.tasks.domain import Task
from shared.errors import Refused
from shared.schedules.checks import check_rule
from shared.schedules.domain import Understood
from shared.schedules.telling import Line, next_lines
from shared.schedules.words import NotUnderstood, understand
from shared.schedules.zones import check_zone

SHOWN = 5
"""Runs that a confirmation shows (rule 7)."""
LONGEST_WORDS = 500


def read_schedule(words: str, zone: str, at: datetime, before: Understood | None = None) -> Understood:
    """`before`: what these words correct. Refused with what to say instead."""
    try:
        return understand(words, check_zone(zone), at, before)
    except NotUnderstood as error:
        raise Refused(f"{error.message} {error.hint}".strip(), code="schedule") from None


def schedule_of(task: Task) -> Understood:
    return Understood(task.rule, task.zone, task.words)


def moved(task: Task, zone: str, at: datetime, language: str = "en") -> Understood:
    """The same wall times in another zone (SC-04)."""
    found = check_zone(zone)
    return Understood(task.rule, found, describe(task.rule, found, language), tuple(check_rule(task.rule, found, at)))


def coming(task: Task, at: datetime, count: int = SHOWN) -> tuple[Line, ...]:
    """Its next times; none for a task that nothing comes of."""
    return next_lines(schedule_of(task), at, count) if task.state in ("active", "waiting") else ()


def schedule_notes(task: Task, at: datetime) -> tuple[str, ...]:
    """What may surprise about its times; nothing of a task that nothing comes of."""
    try:
        return tuple(check_rule(task.rule, task.zone, at)) if task.state == "active" else ()
    except Refused:
        return ()
