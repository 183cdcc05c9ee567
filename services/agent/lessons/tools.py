"""What a model can do with lessons. The owner is whoever is signed in: no argument names one (rule 24)."""

from typing import Annotated, Any

from pydantic import Field

from services.agent.lessons.domain import MOST_TAGS, Learnt, Lesson, Origin
from services.agent.lessons.shelf import Lessons
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool

MOST_FOUND = 20
Piece = Annotated[str, Field(max_length=8000)]


class SearchArguments(Arguments):
    """`words`: what to look for, in any order."""

    words: str = Field(max_length=2000)
    limit: int = Field(default=5, ge=1, le=MOST_FOUND)


class ListArguments(Arguments):
    """The newest first."""

    limit: int = Field(default=10, ge=1, le=100)


class AddArguments(Arguments):
    """What was seen, what follows from it, what to do the next time, and words to find it by."""

    observation: str = Field(min_length=1, max_length=8000)
    conclusion: Piece = ""
    next_action: Piece = ""
    tags: tuple[Annotated[str, Field(min_length=1, max_length=64)], ...] = Field(default=(), max_length=MOST_TAGS)


class DropArguments(Arguments):
    lesson_id: int = Field(ge=1, le=2**62)


class LessonTools:
    def __init__(self, lessons: Lessons) -> None:
        self._lessons = lessons

    async def search(self, asked: Asked, given: SearchArguments) -> Found:
        hits = await self._lessons.search(asked.me.owner, given.words, given.limit)
        return _found([told(lesson) | {"score": round(score, 3)} for lesson, score in hits], [each for each, _ in hits])

    async def newest(self, asked: Asked, given: ListArguments) -> Found:
        found = await self._lessons.newest(asked.me.owner, given.limit)
        return _found([told(each) for each in found], found)

    async def add(self, asked: Asked, given: AddArguments) -> Found:
        learnt = Learnt(given.observation, given.conclusion, given.next_action, given.tags)
        origin = Origin(asked.conversation_id, asked.turn_id, asked.tainted)
        number = await self._lessons.add(asked.me.owner, learnt, origin)
        return Found({"lesson_id": number}, f"lesson {number} added")

    async def drop(self, asked: Asked, given: DropArguments) -> Found:
        await self._lessons.drop(asked.me.owner, given.lesson_id)
        return Found({"lesson_id": given.lesson_id, "state": "gone"}, f"lesson {given.lesson_id} taken away")


def told(lesson: Lesson) -> dict[str, Any]:
    """A lesson with its provenance."""
    learnt, origin = lesson.learnt, lesson.origin
    return {
        "lesson_id": lesson.lesson_id,
        "observation": learnt.observation,
        "conclusion": learnt.conclusion,
        "next_action": learnt.next_action,
        "tags": list(learnt.tags),
        "at": lesson.at.isoformat(timespec="seconds"),
        "conversation_id": str(origin.conversation_id) if origin.conversation_id else None,
        "sources": list(origin.sources),
    }


def _found(lessons: list[dict[str, Any]], read: Any) -> Found:
    """Who reads what came from untrusted text has read untrusted text (S11)."""
    sources = tuple(dict.fromkeys(source for each in read for source in each.origin.sources))
    return Found({"lessons": lessons}, f"{len(lessons)} lessons", sources)


def make_tools(lessons: Lessons) -> tuple[Tool, ...]:
    mine = LessonTools(lessons)
    about_search = "Search what the user has learnt before (their lessons), by words. Do so before you begin something that may have gone wrong before."
    about_add = "Keep a lesson: what was observed, what follows from it, and what to do next time."
    return (
        Tool("search_lessons", about_search, SearchArguments, mine.search, PEOPLE),
        Tool("list_lessons", "The user's newest lessons.", ListArguments, mine.newest, PEOPLE),
        Tool("add_lesson", about_add, AddArguments, mine.add, PEOPLE, writes="lessons"),
        Tool("drop_lesson", "Take one of the user's lessons away, by its number.", DropArguments, mine.drop, PEOPLE, writes="lessons"),
    )  # fmt: skip
