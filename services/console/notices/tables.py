"""Notices, one row for each person who is told."""

from sqlalchemy import Column, Index, Table, Text, Uuid, text

from services.console.schema import app, when

notices = Table(
    "notices",
    app,
    Column("id", Uuid, primary_key=True),
    Column("person_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("item_id", Uuid),
    Column("text", Text, nullable=False),
    Column("place", Text, nullable=False),
    when("at", nullable=False),
    when("read_at"),
    Index("notices_of_person", "person_id", "at"),
    Index("notices_unread", "person_id", postgresql_where=text("read_at IS NULL")),
    Index("notices_by_age", "at"),
)
