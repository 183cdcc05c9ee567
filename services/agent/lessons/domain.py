"""What was learnt: an observation, what follows from it, and what to do next time."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.agent.domain import mend
from services.agent.lessons.splitting import words
from shared.errors import Refused

MOST_LESSONS = 20_000
"""Of one owner."""
MOST_TAGS = 20
Version = tuple[datetime, int]
"""Of an owner's lessons: when their book was begun, and how often they have changed since. A book that was deleted and begun again is another."""


@dataclass(frozen=True)
class Learnt:
    """What a lesson says."""

    observation: str
    conclusion: str = ""
    next_action: str = ""
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((self.observation, self.conclusion, self.next_action, " ".join(self.tags)))

    @property
    def words(self) -> list[str]:
        return words(self.text)


@dataclass(frozen=True)
class Origin:
    """Where a lesson came from: the turn that added it, and what untrusted text that conversation had read (S11)."""

    conversation_id: UUID | None = None
    turn_id: UUID | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """One of an owner's lessons; `lesson_id` counts from 1 for each owner. `flagged`: characters were replaced in it (rule 19)."""

    lesson_id: int
    learnt: Learnt
    origin: Origin
    at: datetime
    flagged: bool = False


def mended(learnt: Learnt) -> tuple[Learnt, bool]:
    """As it can be kept, and whether that changed it. A tool's arguments are a model's words (rule 19)."""
    tags = tuple(dict.fromkeys(tag for each in learnt.tags if (tag := mend(each).strip())))[:MOST_TAGS]
    found = Learnt(mend(learnt.observation), mend(learnt.conclusion), mend(learnt.next_action), tags)
    return found, mend(learnt.text) != learnt.text


def full() -> Refused:
    return Refused(
        f"you have {MOST_LESSONS:,} lessons, which is the most; take some away first", code="too_many_lessons"
    )
