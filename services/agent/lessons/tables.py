"""Lessons of an owner."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Integer, Table, Text, Uuid, text

from services.agent.schema import core, line, owned, written

lesson_books = Table(
    "lesson_books",
    core,
    *owned(),
    Column("version", BigInteger, nullable=False),
    Column("newest", BigInteger, nullable=False),
    written("made_at"),
    CheckConstraint("version > 0 AND newest >= 0", name="lesson_books_counts"),
)
"""One row per owner. `version` goes up with each change of their lessons, so that an index in memory knows that it is old; `newest` is the last id."""

lessons = Table(
    "lessons",
    core,
    *owned(),
    Column("lesson_id", BigInteger, primary_key=True, autoincrement=False),
    line("observation"),
    line("conclusion"),
    line("next_action"),
    line("tags"),
    Column("words", Text, nullable=False),
    Column("splitting", Integer, nullable=False),
    Column("conversation_id", Uuid),
    Column("turn_id", Uuid),
    line("sources", server_default=text("'[]'")),
    Column("flagged", Boolean, nullable=False, server_default=text("false")),
    written(),
    CheckConstraint("lesson_id > 0", name="lessons_id"),
    Index("lessons_splitting", "owner_kind", "owner_id", "splitting"),
)
"""`tags` and `sources` are JSON lists. `words`: as rule 18 splits them, by blanks, and `splitting` says by which version of it. A lesson's text is never rewritten."""

TABLES = (lesson_books, lessons)
OWNED = frozenset(each.name for each in TABLES)
_KEPT = [each.name for each in lessons.columns if each.name != "at"]
GRANTS: dict[str, dict[str, Any]] = {
    "lesson_books": {
        "select": True,
        "insert": ["owner_kind", "owner_id", "version", "newest"],
        "update": ["version", "newest"],
        "delete": True,
    },
    "lessons": {"select": True, "insert": _KEPT, "update": ["words", "splitting"], "delete": True},
}
SQL: list[str] = []
