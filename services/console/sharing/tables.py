"""What is shared with the agent now, and what was."""

from sqlalchemy import CheckConstraint, Column, Index, Integer, Table, Text, Uuid, text

from services.console.schema import app, when

shares = Table(
    "shares",
    app,
    Column("record_id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text),
    Column("source", Text, nullable=False),
    Column("shared_by", Text, nullable=False),
    when("at", nullable=False),
    Column("version", Integer, nullable=False),
    when("taken_back_at"),
    Column("taken_back_by", Text),
    CheckConstraint("(text IS NULL) = (taken_back_at IS NOT NULL)"),
    Index("shares_open", "at", postgresql_where=text("taken_back_at IS NULL")),
)
"""`record_id`: of feedback its signal's id, of an item the item's. `text`: what the agent was given; gone once it was taken back."""
